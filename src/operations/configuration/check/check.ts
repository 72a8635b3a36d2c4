import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { apiEndpoint } from '../../../config/api-endpoint.ts';
import { type Configuration, NOWHERE } from '../../../config/configuration.ts';
import { inspectConfiguration, inspectUntrusted } from '../../../config/load.ts';
import { queryFilesIn } from '../../../config/query-files.ts';
import { findKeychain } from '../../../config/secrets/keychain.ts';
import { UntrustedConfiguration } from '../../../config/trust/untrusted-configuration.ts';
import type { EngineContext } from '../../../engines/engine-context.ts';
import { engines } from '../../../engines/registry.ts';
import { localRunner } from '../../../process/local.ts';
import { ownershipOf } from '../../../repository/store/claim.ts';
import { createFolder } from '../../../repository/store/folder.ts';
import type {
  CheckReport,
  EngineState,
  Problem,
  Reach,
  WorkingDirectoryReport,
} from '../../../results/configuration/configuration-results.ts';
import { toUserError } from '../../../runtime/errors.ts';
import { plainSecrets } from '../secrets.ts';
import { reach } from './reach.ts';
import { reachStorage } from './reach-storage.ts';
import { reportDocker } from './report-docker.ts';
import { reportSanitizePlaces } from './report-sanitize.ts';

export interface CheckRequest extends Omit<EngineContext, 'runner'> {
  /** The file given with `--config`. */
  file?: string | undefined;
  cwd: string;
  /** Skips what needs a network. */
  offline: boolean;
  /** Checks an untrusted file without using anything of it; otherwise such a file is an error. */
  untrusted?: boolean;
}

/** Everything that is wrong with the configuration, and all that it needs to work; `text` is the file's. */
export async function check(request: CheckRequest): Promise<{ report: CheckReport; text: string }> {
  const { offline, environment, report } = request;
  const context = { ...request, runner: localRunner({ environment, report }) };
  const inspection = await inspectConfiguration(request).catch((thrown) => {
    if (!(thrown instanceof UntrustedConfiguration) || !request.untrusted) throw thrown;
    return inspectUntrusted(request);
  });
  const { file, shadowed, text, mode, problems, configuration, values } = inspection;
  const failed: Problem[] = [];

  async function guarded<T>(what: string, otherwise: T, check: () => T | Promise<T>): Promise<T> {
    try {
      return await check();
    } catch (thrown) {
      request.signal.throwIfAborted();
      failed.push(checkFailed(what, thrown));
      return otherwise;
    }
  }

  const [working_directory, found, docker, sanitizing, keychain, storage, cloud] = await Promise.all([
    guarded('working directory', null, () =>
      configuration
        ? reportWorkingDirectory(configuration.settings.working_directory, queryFilesIn(configuration.settings))
        : null,
    ),
    guarded('client tools', [], () => findEngines(request)),
    guarded('Docker', null, () => reportDocker({ ...context, images: values?.docker?.images ?? {} })),
    guarded('sanitization', [], () => (configuration ? reportSanitizePlaces(context, configuration) : [])),
    guarded('keychain', { ok: false, reason: null }, findKeychain),
    guarded('storage profiles', { states: [], missing: [] }, () =>
      reachStorage({
        ...request,
        problems,
        draft: values ?? {},
        profiles: configuration?.settings.storage_profiles ?? {},
      }),
    ),
    guarded('cloud', null, () => (mode === 'cloud' ? reachCloud(configuration, request) : null)),
  ]);
  const all = [
    ...problems,
    ...failed,
    ...storage.missing,
    ...(configuration && mode === 'cloud' ? addressMissing(configuration) : []),
  ];
  const ok = all.every(({ severity }) => severity !== 'error');
  const { states: storage_profiles } = storage;
  const needs = { working_directory, engines: found, docker, sanitizing, keychain, storage_profiles, cloud };
  const said = { file, shadowed, mode, offline, problems: all, plain_secrets: plainSecrets(inspection) };
  return { report: { ok, ...said, ...needs }, text };
}

/** Returns the error that commands of the cloud fail with. */
function addressMissing({ settings }: Configuration): Problem[] {
  try {
    apiEndpoint(settings);
    return [];
  } catch (thrown) {
    const { code, message, hint = null } = toUserError(thrown);
    return [{ severity: 'error', code, key: 'authtoken', message, hint, ...NOWHERE }];
  }
}

/** One part of the check that fails does not hide what the others have found. */
function checkFailed(what: string, thrown: unknown): Problem {
  const { message, hint = null } = toUserError(thrown);
  return {
    severity: 'error',
    code: 'check_failed',
    key: '',
    message: `the check of the ${what} failed: ${message}`,
    hint,
    ...NOWHERE,
  };
}

/** The client programs of every engine on this machine. */
export async function findEngines(surroundings: Omit<EngineContext, 'runner'>): Promise<EngineState[]> {
  const context = { ...surroundings, runner: localRunner(surroundings) };
  return Promise.all(
    engines.map(async (engine) => {
      const tools = await engine.reportTools(context);
      return { id: `${engine.id}-${context.runner.id}`, ok: tools.length > 0, tools };
    }),
  );
}

/** Several keys make up the address: no request is sent while one of them may be wrong. */
async function reachCloud(configuration: Configuration | null, request: CheckRequest): Promise<Reach> {
  if (!configuration) return { url: null, ok: null, error: null };
  try {
    return await reach(apiEndpoint(configuration.settings), request);
  } catch (thrown) {
    return { url: null, ok: false, error: toUserError(thrown).message };
  }
}

export async function reportWorkingDirectory(path: string, configured: string[] = []): Promise<WorkingDirectoryReport> {
  try {
    if (!(await stat(path)).isDirectory()) return { path, ok: false, error: 'is not a folder' };
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
    const isForeign = (await ownershipOf(createFolder(path), configured)) === 'foreign';
    return { path, ok: !isForeign, error: isForeign ? 'contains foreign files' : null };
  } catch (thrown) {
    const { code = '' } = thrown as NodeJS.ErrnoException;
    return { path, ok: code === 'ENOENT' ? null : false, error: REASONS[code] ?? null };
  }
}

const REASONS: Record<string, string> = {
  EACCES: 'is not writable',
  EROFS: 'is on a disk that cannot be written',
  ENOTDIR: 'has a parent that is not a folder',
};
