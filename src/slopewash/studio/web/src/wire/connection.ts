// The one WebSocket: sends messages, matches answers to them, and reconnects after growing delays.

import { type Frame, FrameReader } from "./frames";
import type { ClientMessage, Done, Failure, FinishState, ServerMessage, State, Welcome } from "./protocol";

export interface ConnectionListener {
  welcomed(welcome: Welcome): void;
  stateChanged(state: State): void;
  finishChanged(finish: FinishState): void;
  frameArrived(frame: Frame): void;
  failed(message: string, wants?: Failure["wants"]): void;
  noticed(message: string): void;
  lost(secondsUntilRetry: number): void;
  connected(again: boolean): void;
}

const FIRST_WAIT = 0.5;
const LONGEST_WAIT = 8;

type Id = NonNullable<Done["id"]>;

interface Question {
  resolve: () => void;
  reject: (reason: Error) => void;
}

/** Why the server does not do what it was asked for, and what has to be done first. */
class Refusal extends Error {
  constructor(
    message: string,
    readonly wants?: Failure["wants"],
  ) {
    super(message);
  }
}

export class Connection {
  private socket: WebSocket | null = null;
  private wait = FIRST_WAIT;
  private nextId = 1;
  private everConnected = false;
  private retryTimer = 0;
  private readonly questions = new Map<Id, Question>();
  private frames = new FrameReader();

  constructor(
    private readonly url: string,
    private readonly listener: ConnectionListener,
  ) {
    this.open();
  }

  get isOpen(): boolean {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  /** Ask the server to do something; rejects with the server's error message if it refuses. */
  ask(message: ClientMessage): Promise<void> {
    if (!this.isOpen)
      return Promise.reject(new Error("not connected to the server; wait until the page has reconnected"));
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      this.questions.set(id, { resolve, reject });
      this.socket!.send(JSON.stringify({ ...message, id }));
    });
  }

  /** Ask, and show an error to the user instead of throwing; resolves to whether it was done. */
  async send(message: ClientMessage): Promise<boolean> {
    try {
      await this.ask(message);
      return true;
    } catch (reason) {
      const { message: why, wants } = reason as Refusal;
      this.listener.failed(why, wants);
      return false;
    }
  }

  acknowledge(frame: number): void {
    if (this.isOpen) this.socket!.send(JSON.stringify({ type: "ack", frame }));
  }

  retryNow(): void {
    window.clearTimeout(this.retryTimer);
    if (!this.socket) this.open();
  }

  private open(): void {
    const socket = new WebSocket(this.url);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    this.frames = new FrameReader();
    socket.addEventListener("message", (event: MessageEvent<string | ArrayBuffer>) => this.receive(event.data));
    socket.addEventListener("close", () => this.closed());
  }

  private closed(): void {
    this.socket = null;
    for (const question of this.questions.values())
      question.reject(new Error("the connection was lost before the server answered"));
    this.questions.clear();
    this.listener.lost(this.wait);
    this.retryTimer = window.setTimeout(() => this.open(), this.wait * 1000);
    this.wait = Math.min(this.wait * 2, LONGEST_WAIT);
  }

  private receive(data: string | ArrayBuffer): void {
    if (typeof data !== "string") {
      this.listener.frameArrived(this.frames.read(data));
      return;
    }
    const message = JSON.parse(data) as ServerMessage;
    switch (message.type) {
      case "welcome":
        this.wait = FIRST_WAIT;
        this.listener.welcomed(message);
        this.listener.connected(this.everConnected);
        this.everConnected = true;
        break;
      case "state":
        this.listener.stateChanged(message);
        break;
      case "finish":
        this.listener.finishChanged(message);
        break;
      case "notice":
        this.listener.noticed(message.message);
        break;
      case "done":
        this.answer(message.id, null);
        break;
      case "error":
        if (!this.answer(message.id, new Refusal(message.message, message.wants)))
          this.listener.failed(message.message, message.wants);
        break;
    }
  }

  private answer(id: Id | null | undefined, failure: Refusal | null): boolean {
    const question = id == null ? undefined : this.questions.get(id);
    if (id == null || !question) return false;
    this.questions.delete(id);
    if (failure === null) question.resolve();
    else question.reject(failure);
    return true;
  }
}
