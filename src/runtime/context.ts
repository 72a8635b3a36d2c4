import type { Configuration } from '../config/configuration.ts';
import type { Settings } from '../config/schema/settings.ts';
import type { EngineId } from '../engines/list.ts';
import type { Runner } from '../process/runner.ts';
import type { RoleCredentials } from '../sso/role-credentials.ts';
import type { UserError } from './errors.ts';
import type { Report } from './events.ts';

/** The parameters of every operation: nothing is read from the process or the module level. */
export interface Context {
  configuration: Configuration;
  report: Report;
  /** Aborted by Ctrl-C, SIGTERM or a cancel on screen; its `reason` is the UserError to end with. */
  signal: AbortSignal;
  runner: Runner;
  /**
   * Runs an engine's tools in its configured image; `null` without one. A server gets a container of its own without
   * mounts.
   */
  containers?: (engine: EngineId, purpose?: 'server') => Runner | null;
  roleCredentials?: RoleCredentials;
  clock: () => Date;
  environment: NodeJS.ProcessEnv;
  /** Writes the failure of an operation to the log, if any. */
  logFailure?: (error: UserError) => void;
}

export interface ContextOptions {
  config?: string | undefined;
  environment: NodeJS.ProcessEnv;
  cwd: string;
  report: Report;
  signal: AbortSignal;
  clock: () => Date;
  debug?: boolean;
}

/** The context of an operation; throws with exit 3 when the configuration is missing or invalid. */
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
    import('../report/log.ts'),
    import('../process/redact.ts'),
    import('../config/secrets/secret-values.ts'),
  ]);
  const secrets = knownSecrets(secretValues({ settings, environment, urls: [] }));
  return createLog({ directory: settings.working_directory, trace: settings.trace, secrets, clock, report });
}
