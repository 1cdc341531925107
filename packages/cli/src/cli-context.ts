import type { Screen } from './terminal/screen.js';
import type { ScreenLogger } from './terminal/screen-logger.js';

/** What every command is handed: where it writes, what it is told by the environment, and how it reports. */
export interface CliContext {
  readonly screen: Screen;
  readonly logger: ScreenLogger;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly json: boolean;
}
