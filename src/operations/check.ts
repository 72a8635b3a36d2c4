import { apiEndpoint } from '../config/api-endpoint.ts';
import type { Problem } from '../config/configuration.ts';
import { inspectConfiguration } from '../config/load.ts';
import type { Mode } from '../config/mode.ts';
import type { Settings } from '../config/schema/settings.ts';
import { findKeychain } from '../config/secrets/keychain.ts';
import type { EngineContext, ToolReport } from '../engines/engine.ts';
import { engines } from '../engines/registry.ts';
import { toUserError } from '../errors.ts';
import { localRunner } from '../process/local.ts';
import { type Reach, reach } from './reach.ts';
import { type DockerReport, reportDocker } from './report-docker.ts';

export interface CheckRequest extends Omit<EngineContext, 'runner'> {
  /** The file given with `--config`. */
  file?: string | undefined;
  cwd: string;
  /** Skips what needs a network. */
  offline: boolean;
}

/** What `config check` finds: the shape of its JSON. */
export interface CheckReport {
  /** Whether no problem is an error. */
  ok: boolean;
  file: string | null;
  /** The user's own file when it is there and not read, because `./tool.yml` is there. */
  shadowed: string | null;
  mode: Mode;
  offline: boolean;
  problems: Problem[];
  engines: EngineState[];
  /** `null` where no image is configured. */
  docker: DockerReport | null;
  keychain: { ok: boolean; reason: string | null };
  storage_profiles: ({ name: string; provider: string; bucket: string } & Reach)[];
  /** The cloud's API; `null` in local mode. */
  cloud: Reach | null;
}

export interface EngineState {
  /** The engine and where its tools run: `postgres-local`. */
  id: string;
  ok: boolean;
  tools: ToolReport[];
}

/** Everything that is wrong with the configuration, and all that it needs to work; `text` is the file's. */
export async function check(request: CheckRequest): Promise<{ report: CheckReport; text: string }> {
  const { offline } = request;
  const runner = localRunner({ environment: request.environment, report: request.report });
  const context = { ...request, runner };
  const { file, shadowed, text, mode, problems, configuration } = await inspectConfiguration(request);
  const settings = configuration?.settings;
  const [states, docker, keychain, storage_profiles, cloud] = await Promise.all([
    findEngines(context),
    settings ? reportDocker({ ...context, images: settings.docker.images ?? {} }) : null,
    findKeychain(),
    settings ? reachStorage(request, settings) : [],
    settings && mode === 'cloud' ? reachCloud(request, settings) : null,
  ]);
  const ok = problems.every(({ severity }) => severity !== 'error');
  const found = { engines: states, docker, keychain, storage_profiles, cloud };
  return { report: { ok, file, shadowed, mode, offline, problems, ...found }, text };
}

async function findEngines(context: EngineContext): Promise<EngineState[]> {
  return Promise.all(
    engines.map(async (engine) => {
      const tools = await engine.reportTools(context);
      return { id: `${engine.id}-${context.runner.id}`, ok: tools.length > 0, tools };
    }),
  );
}

/** Where each kind of storage is, when its profile does not say so. */
const ENDPOINTS: Record<string, (profile: Settings['storage_profiles'][string]) => string> = {
  s3: ({ region }) => `https://s3.${region}.amazonaws.com`,
  r2: ({ account_id }) => `https://${account_id}.r2.cloudflarestorage.com`,
};

function reachStorage(request: CheckRequest, settings: Settings): Promise<CheckReport['storage_profiles']> {
  const profiles = Object.entries(settings.storage_profiles);
  return Promise.all(
    profiles.map(async ([name, profile]) => {
      const { provider, bucket, endpoint } = profile;
      const url = endpoint ?? ENDPOINTS[provider]?.(profile) ?? '';
      return { name, provider, bucket, ...(await reach(url, request)) };
    }),
  );
}

async function reachCloud(request: CheckRequest, settings: Settings): Promise<Reach> {
  try {
    return await reach(apiEndpoint(settings), request);
  } catch (thrown) {
    return { url: null, ok: false, error: toUserError(thrown).message };
  }
}
