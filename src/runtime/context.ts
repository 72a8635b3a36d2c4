import type { Configuration } from '../config/configuration.ts';
import type { Settings } from '../config/schema/settings.ts';
import type { UrlTarget } from '../config/urls/url-target.ts';
import type { EngineId } from '../engines/list.ts';
import type { Runner } from '../process/runner.ts';
import type { RoleCredentials } from '../sso/role-credentials.ts';
import { boundText, type UserError } from './errors.ts';
import type { Report } from './events.ts';

/** The parameters of every operation: nothing is read from the process or the module level. */
export interface Context {
  configuration: Configuration;
  report: Report;
  /** Aborted by Ctrl-C, SIGTERM or a cancel on screen; its `reason` is the UserError to end with. */
  signal: AbortSignal;
  runner: Runner;
  /**
   * Runs an engine's tools in its configured image, or for `required` in the default one; `null` without one. A server
   * gets a container of its own without mounts.
   */
  containers?: (engine: EngineId, purpose?: 'server' | 'required') => Runner | null;
  roleCredentials?: RoleCredentials;
  clock: () => Date;
  environment: NodeJS.ProcessEnv;
  /** Snapshots are those of this machine: no remote repository is listed or read. */
  localOnly?: boolean;
  /** Databases are filled from sanitized snapshots only. */
  sanitizedOnly?: boolean;
  /** A coding agent is the caller. */
  agent?: boolean;
  /** The current folder, of which the git repository counts. */
  cwd?: string;
  /** Hides the secrets of the configuration and the environment in a text. */
  hide?: (text: string) => string;
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
  /** The target that a command names: one that is not in the file may be on the hub. */
  target?: string | undefined;
  /** The target of `--from` and `--to`. */
  urls?: UrlTarget | undefined;
}

/** The context of an operation; throws with exit 3 when the configuration is missing or invalid. */
export async function createContext({
  config,
  cwd,
  debug = false,
  target: _,
  urls,
  ...given
}: ContextOptions): Promise<Context> {
  const { environment, signal } = given;
  const report = withBoundedWarnings(given.report);
  const [
    { loadConfiguration },
    { settingsWithMisnamed },
    { secretValues },
    { hideKnown, knownSecrets },
    { localRunner },
    { containerRunners },
    { stagingRoot },
  ] = await Promise.all([
    import('../config/load.ts'),
    import('../config/problems/misnamed-targets.ts'),
    import('../config/secrets/secret-values.ts'),
    import('../process/redact.ts'),
    import('../process/local.ts'),
    import('../engines/containers.ts'),
    import('../repository/staging.ts'),
  ]);
  const configuration = await loadConfiguration({ file: config, environment, cwd, report, urls });
  const { settings } = configuration;
  const secrets = knownSecrets(secretValues({ settings: settingsWithMisnamed(configuration), environment, urls: [] }));
  const isLogged = debug || settings.debug || settings.trace;
  const listeners = isLogged ? await openLog(settings, { ...given, report, secrets }) : { report };
  const runner = localRunner({ environment, report: listeners.report });
  const workFolders = [stagingRoot(settings.working_directory)];
  const images = settings.docker.images ?? {};
  const containers = containerRunners({
    images,
    local: runner,
    environment,
    report: listeners.report,
    signal,
    workFolders,
  });
  const hide = (text: string): string => hideKnown(text, secrets);
  const context = { ...given, ...listeners, cwd, configuration, runner, containers, hide };
  const hasRoles = Object.values(settings.storage_profiles).some(({ role_arn }) => role_arn !== undefined);
  if (!hasRoles) return context;
  const { createRoleCredentials } = await import('../sso/role-credentials.ts');
  return { ...context, roleCredentials: createRoleCredentials(context) };
}

function withBoundedWarnings(report: Report): Report {
  return (event) => report(event.event === 'warning' ? { ...event, message: boundText(event.message) } : event);
}

async function openLog(
  { working_directory, trace }: Settings,
  { clock, report, secrets }: Pick<ContextOptions, 'clock' | 'report'> & { secrets: string[] },
): Promise<Pick<Context, 'report' | 'logFailure'>> {
  const { createLogFile } = await import('../cli/printers/log.ts');
  return createLogFile({ directory: working_directory, trace, secrets, clock, report });
}
