import type { Configuration } from './config/configuration.ts';
import type { Report } from './events.ts';
import type { Runner } from './process/runner.ts';
import type { EngineId } from './results.ts';

/** What every operation is handed: nothing is read from the process or the module level. */
export interface Context {
  configuration: Configuration;
  report: Report;
  /** Aborted by Ctrl-C, SIGTERM or a cancel on screen; its `reason` is the UserError to end with. */
  signal: AbortSignal;
  /** This machine, where tools run unless they are not there. */
  runner: Runner;
  /** Runs an engine's tools in its configured image; `null` when there is none. Without it all run on this machine. */
  containers?: (engine: EngineId) => Runner | null;
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
}

/** The context of a piece of work; throws with exit 3 when the configuration is missing or not valid. */
export async function openContext({ config, cwd, ...given }: ContextOptions): Promise<Context> {
  const { environment, report, signal } = given;
  const [{ loadConfiguration }, { localRunner }, { containerRunners }, { stagingRoot }] = await Promise.all([
    import('./config/load.ts'),
    import('./process/local.ts'),
    import('./engines/containers.ts'),
    import('./snapshots/staging.ts'),
  ]);
  const configuration = await loadConfiguration({ file: config, environment, cwd, report });
  const { docker, working_directory } = configuration.settings;
  const runner = localRunner({ environment, report });
  const workFolders = [stagingRoot(working_directory)];
  const images = docker.images ?? {};
  const containers = containerRunners({ images, local: runner, environment, report, signal, workFolders });
  return { ...given, configuration, runner, containers };
}
