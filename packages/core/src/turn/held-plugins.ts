import type { AgentView } from '../host/agent-view.js';

/** Keeps the plugins of one view at a time from being stopped. */
export class HeldPlugins {
  private held: { readonly view: AgentView; readonly end: () => void } | undefined;

  hold(view: AgentView): void {
    if (this.held?.view === view) return;
    const end = view.parts.hold();
    this.release();
    this.held = { view, end };
  }

  release(): void {
    this.held?.end();
    this.held = undefined;
  }
}
