// What the server has sent: its welcome and its last state, and listeners for changes.

import type { ModelDeclaration, ParameterValue, State, Welcome } from "../wire/protocol";

export class Store {
  welcome: Welcome | null = null;
  state: State | null = null;
  private readonly welcomeListeners: ((welcome: Welcome) => void)[] = [];
  private readonly stateListeners: ((state: State, previous: State | null) => void)[] = [];

  onWelcome(listener: (welcome: Welcome) => void): void {
    this.welcomeListeners.push(listener);
  }

  onState(listener: (state: State, previous: State | null) => void): void {
    this.stateListeners.push(listener);
  }

  setWelcome(welcome: Welcome): void {
    this.welcome = welcome;
    for (const listener of this.welcomeListeners) listener(welcome);
  }

  setState(state: State): void {
    const previous = this.state;
    this.state = state;
    for (const listener of this.stateListeners) listener(state, previous);
  }

  get model(): ModelDeclaration | null {
    return this.welcome?.models.find((model) => model.name === this.state?.model) ?? null;
  }

  /** The value of a parameter in the preset or on the level under way, or else the default of the model. */
  usual(name: string): ParameterValue | undefined {
    return this.state?.usual[name] ?? this.model?.parameters.find((parameter) => parameter.name === name)?.default;
  }

  /** The longer side of the terrain in metres. */
  get side(): number {
    return this.state ? Math.max(this.state.rows, this.state.columns) * this.state.cell_size : 1;
  }
}
