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

export interface ContextOptions {
  /** The file given with `--config`. */
  config?: string | undefined;
  environment: NodeJS.ProcessEnv;
  cwd: string;
  report: Report;
  signal: AbortSignal;
  clock: () => Date;
  /** Keeps a log even where the configuration asks for none. */
  debug?: boolean;
}

/** The context of a piece of work; throws with exit 3 when the configuration is missing or not valid. */
export async function openContext({ config, cwd, debug = false, ...given }: ContextOptions): Promise<Context> {
  const { environment, clock } = given;
  const [{ loadConfiguration }, { localRunner }] = await Promise.all([
    import('./config/load.ts'),
    import('./process/local.ts'),
  ]);
  const configuration = await loadConfiguration({ file: config, environment, cwd, report: given.report });
  const { settings } = configuration;
  let { report } = given;
  if (debug || settings.debug || settings.trace) {
    const { withLog } = await import('./report/log.ts');
    report = withLog({ directory: settings.working_directory, trace: settings.trace, clock, report });
  }
  return { ...given, report, configuration, runner: localRunner({ environment, report }) };
}
