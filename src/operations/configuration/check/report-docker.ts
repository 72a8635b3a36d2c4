import { containerRunners } from '../../../engines/containers.ts';
import type { Engine } from '../../../engines/engine.ts';
import type { EngineContext } from '../../../engines/engine-context.ts';
import type { EngineId } from '../../../engines/list.ts';
import { engines } from '../../../engines/registry.ts';
import { type Daemon, findDaemon } from '../../../process/docker-daemon.ts';
import { hasImage } from '../../../process/docker-image.ts';
import type { Runner } from '../../../process/runner.ts';
import type { DockerReport, ImageReport } from '../../../results/configuration/configuration-results.ts';
import { toUserError } from '../../../runtime/errors.ts';

export interface DockerRequest extends Omit<EngineContext, 'containers'> {
  /** `docker.images` of the configuration. */
  images: Partial<Record<EngineId, string | undefined>>;
}

/** A daemon that is stuck keeps its clients waiting for ever. */
const TIMEOUT_MS = 10_000;

/** The daemon, and the tools in the configured images; nothing where none is configured and no Docker is installed. */
export async function reportDocker(request: DockerRequest): Promise<DockerReport | null> {
  const { images, runner, signal } = request;
  const configured = engines.flatMap((engine) => {
    const image = images[engine.id];
    return image === undefined ? [] : [{ engine, image }];
  });
  const limit = AbortSignal.timeout(TIMEOUT_MS);
  const impatient: Runner = {
    ...runner,
    run: (command, options) => runner.run(command, { ...options, signal: AbortSignal.any([signal, limit]) }),
  };
  try {
    const daemon = await findDaemon(impatient);
    const reports = await Promise.all(configured.map((one) => reportImage(request, { ...one, daemon })));
    return { ok: reports.every(({ ok }) => ok), name: daemon.name, error: null, hint: null, images: reports };
  } catch (thrown) {
    signal.throwIfAborted();
    const late = `Docker has not answered for ${TIMEOUT_MS / 1000} seconds`;
    const { code, message, hint = null } = toUserError(thrown);
    if (code === 'docker_missing' && configured.length === 0) return null;
    const error = limit.aborted ? late : configured.length > 0 ? message : 'The Docker daemon does not answer';
    return { ok: false, name: null, error, hint, images: [] };
  }
}

async function reportImage(
  request: DockerRequest,
  { engine, image, daemon }: { engine: Engine; image: string; daemon: Daemon },
): Promise<ImageReport> {
  const about = { id: `${engine.id}-docker`, image };
  const { runner, environment, report, signal, images } = request;
  const present = await hasImage({ runner, daemon, image });
  if (!present) return { ...about, present, ok: true, tools: [], error: null };
  const containers = containerRunners({ images, local: runner, environment, report, signal, workFolders: [] });
  try {
    const tools = await engine.reportTools({ ...request, runner: containers(engine.id) ?? runner });
    const error = tools.length > 0 ? null : `No client programs were found in ${image}`;
    return { ...about, present, ok: error === null, tools, error };
  } catch (thrown) {
    return { ...about, present, ok: false, tools: [], error: toUserError(thrown).message };
  }
}
