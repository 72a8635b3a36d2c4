import type { Configuration } from '../config/configuration.ts';
import type { Settings } from '../config/schema/settings.ts';
import type { EngineId } from '../engines/list.ts';
import type { Runner } from '../process/runner.ts';
import type { RoleCredentials } from '../sso/role-credentials.ts';
import type { UserError } from './errors.ts';
import type { Report } from './events.ts';

/** What every operation is handed: nothing is read from the process or the module level. */
export interface Context {
  configuration: Configuration;
  report: Report;
  /** Aborted by Ctrl-C, SIGTERM or a cancel on screen; its `reason` is the UserError to end with. */
  signal: AbortSignal;
  /** This machine, where tools run unless they are not there. */
  runner: Runner;
  /**
   * Runs an engine's tools in its configured image; `null` when there is none. Without it all run on this machine.
   * For a server there is a container of its own, which sees nothing of this machine.
   */
  containers?: (engine: EngineId, purpose?: 'server') => Runner | null;
  /** Temporary credentials of the buckets whose storage profile has a role; not there where none has. */
  roleCredentials?: RoleCredentials;
  clock: () => Date;
  environment: NodeJS.ProcessEnv;
  /** Says to the log what the work has failed of; not there where no log is kept. */
  logFailure?: (error: UserError) => void;
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
  const { environment, signal } = given;
  const [{ loadConfiguration }, { localRunner }, { containerRunners }, { stagingRoot }] = await Promise.all([
    import('../config/load.ts'),
    import('../process/local.ts'),
    import('../engines/containers.ts'),
    import('../repository/staging.ts'),
  ]);
  const configuration = await loadConfiguration({ file: config, environment, cwd, report: given.report });
  const { settings } = configuration;
  const listeners = debug || settings.debug || settings.trace ? await openLog(settings, given) : given;
  const { report } = listeners;
  const runner = localRunner({ environment, report });
  const workFolders = [stagingRoot(settings.working_directory)];
  const images = settings.docker.images ?? {};
  const containers = containerRunners({ images, local: runner, environment, report, signal, workFolders });
  const context = { ...given, ...listeners, configuration, runner, containers };
  const hasRoles = Object.values(settings.storage_profiles).some(({ role_arn }) => role_arn !== undefined);
  if (!hasRoles) return context;
  const { createRoleCredentials } = await import('../sso/role-credentials.ts');
  return { ...context, roleCredentials: createRoleCredentials(context) };
}

async function openLog(
  settings: Settings,
  { clock, report, environment }: Pick<ContextOptions, 'clock' | 'report' | 'environment'>,
): Promise<Pick<Context, 'report' | 'logFailure'>> {
  const [{ createLog }, { knownSecrets }, { secretValues }] = await Promise.all([
    import('../cli/printers/log.ts'),
    import('../process/redact.ts'),
    import('../config/secrets/secret-values.ts'),
  ]);
  const secrets = knownSecrets(secretValues({ settings, environment, urls: [] }));
  return createLog({ directory: settings.working_directory, trace: settings.trace, secrets, clock, report });
}
