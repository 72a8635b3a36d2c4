import type { Configuration } from './config/configuration.ts';
import type { Report } from './events.ts';
import type { Runner } from './process/runner.ts';

/** What every operation is handed: nothing is read from the process or the module level. */
export interface Context {
  configuration: Configuration;
  report: Report;
  /** Aborted by Ctrl-C, SIGTERM or a cancel on screen; its `reason` is the UserError to end with. */
  signal: AbortSignal;
  /** Where the tools run. */
  runner: Runner;
  clock: () => Date;
  environment: NodeJS.ProcessEnv;
}
