import type { ImageFacet, ImageServer } from '../../../engines/facets/image.ts';
import { engineOf } from '../../../engines/registry.ts';
import { isFree, withFreePort } from '../../../engines/shared/server/free-port.ts';
import { identityOf } from '../../../process/process-identity.ts';
import type { UpPlan, UpResult } from '../../../results/server-results.ts';
import type { Context } from '../../../runtime/context.ts';
import { UserError } from '../../../runtime/errors.ts';
import { withStep } from '../../../runtime/events.ts';
import { shell } from '../../../text/shell-word.ts';
import { findLoadable } from '../../load/find-loadable.ts';
import { type Planned, planOutdated } from '../../planned.ts';
import { withSanitizedDefault } from '../../snapshots/sanitized-only.ts';
import type { FoundSnapshot, SnapshotRequest } from '../../snapshots/snapshots.ts';
import { pullFiles } from '../../snapshots/transfer/pull.ts';
import { dataOf, findImage, type Image, type ImageKey, imageKeyOf, isStored, removeImages } from '../images.ts';
import { makeImage } from '../make-image.ts';
import { createServer, isOwned, removeServer, type ServerRecord, sweepServers, writeRecord } from '../records.ts';
import { fetchSharedImage, findSharedImage } from '../shared-images.ts';
import { noteUse, sweepImages } from '../sweep-images.ts';

export interface UpRequest extends SnapshotRequest {
  port?: number | undefined;
  /** The server outlives the program. */
  detach?: boolean | undefined;
  /** Returns when the server runs, which ends with the program: `removeOwnServers`. */
  session?: boolean | undefined;
}

export type PlannedUp = Planned<UpRequest, UpPlan>;

/** Changes nothing. Throws for a snapshot that no image can be made of. */
export async function planUp(context: Context, given: UpRequest): Promise<PlannedUp> {
  const { request, found, facet, wanted } = await open(context, given);
  const { target, port, detach = false } = request;
  if (port !== undefined && !(await isFree(port))) throw portTaken(port);
  const { product, version, differs } = wanted.programs;
  const stored = await findImage(context, wanted);
  const shared = stored ? null : await findSharedImage(context, { facet, wanted, found });
  const image = stored ? 'stored' : shared?.image ? 'shared' : 'new';
  const { id, server_version } = found.manifest;
  const plan: UpPlan = {
    target,
    snapshot: found.row,
    product,
    server_version: version,
    database: wanted.database,
    image,
    port: port ?? null,
    detached: detach,
    steps: [
      ...(shared ? shared.steps : []),
      ...(image === 'new' ? [`Load snapshot ${id} into a new server, and keep its files as an image`] : []),
      'Copy the image, without reading it where the file system can',
      `Start ${product} ${version} on it${differs ? `: ${server_version} of the snapshot is not installed` : ''}`,
    ],
  };
  return { request, plan, planned_at: context.clock().toISOString() };
}

/** Runs the server until the signal ends it, or leaves it running where that is requested. Steps: those of `startPlanned`. */
export async function applyUp(context: Context, planned: PlannedUp): Promise<UpResult> {
  const { request } = planned;
  const { target, detached } = planned.plan;
  const { record, server } = await startPlanned(context, planned);
  const { display: url, password } = server.url;
  context.report({ event: 'server', server: record.id, url, password: password ?? '' });
  const result = { target, server: record.id, snapshot: record.snapshot, detached };
  if (detached || request.session) return { ...result, url };
  const ended = await Promise.race([server.ended, aborted(context.signal)]);
  const isStopped = context.signal.aborted || !(await isOwned(context, record));
  await removeServer(context, record);
  if (ended && !isStopped) throw endedByItself(record, ended);
  return result;
}

/** Starts a server, which the caller ends with its files. Steps: those of a load for a new image, `start`. */
export async function startPlanned(context: Context, { request, plan }: PlannedUp): Promise<StartedServer> {
  const { found, facet, wanted } = await open(context, request);
  if (found.manifest.id !== plan.snapshot.id) throw planOutdated('There is another snapshot');
  await sweepServers(context);
  await sweepImages(context);
  const { port, detached } = plan;
  return startServer(context, { found, facet, wanted, port, detached });
}

interface Work extends Pick<UpPlan, 'port' | 'detached'> {
  found: FoundSnapshot;
  facet: ImageFacet;
  wanted: ImageKey;
}

export interface StartedServer {
  record: ServerRecord;
  server: ImageServer;
}

/** Makes the image where there is none, or no usable one. */
async function startServer(context: Context, work: Work): Promise<StartedServer> {
  const { found, facet, wanted } = work;
  const stored = (await findImage(context, wanted)) ?? (await fetchSharedImage(context, { facet, wanted, found }));
  if (stored) {
    const started = await unlessReplaced(context, work, stored);
    if (started === 'replaced') return startServer(context, work);
    if (started) return started;
    await removeImages(context, ({ folder }) => folder === stored.folder);
  }
  const { manifest, local, remote } = found;
  if (!local && remote) await pullFiles(context, { manifest, remote, keep: true });
  const started = await unlessReplaced(context, work, await makeImage(context, facet, wanted));
  if (started === 'replaced') return startServer(context, work);
  if (started) return started;
  throw new Error('the collations differ from those of the new image');
}

/** Another run may replace the image by its own at any time. */
async function unlessReplaced(context: Context, work: Work, image: Image): Promise<StartedServer | null | 'replaced'> {
  return startOn(context, work, image).catch(async (error) => {
    if (await isStored(context, image)) throw error;
    return 'replaced' as const;
  });
}

/** Returns `null` for an image with other collations. */
function startOn(context: Context, work: Work, image: Image): Promise<StartedServer | null> {
  const { port } = work;
  if (port === null) return withFreePort((free) => startOnPort(context, { ...work, port: free }, image));
  return startOnPort(context, { ...work, port }, image).catch(async (error) => {
    throw port < FIRST_ORDINARY_PORT || !(await isFree(port)) ? portTaken(port) : error;
  });
}

/** The account of the server may need a right for lower ones. */
const FIRST_ORDINARY_PORT = 1024;

async function startOnPort(
  context: Context,
  { facet, wanted, port, detached }: Work & { port: number },
  image: Image,
): Promise<StartedServer | null> {
  const { target, manifest, programs } = wanted;
  const { database } = image.manifest;
  const facts = { engine: manifest.engine, target, snapshot: manifest.id, database, detached };
  const { record, user } = await createServer(context, facts);
  let server: ImageServer | null = null;
  try {
    const { directory } = record;
    const { collations, extensions } = image.manifest;
    const needs = { collations, extensions };
    const start = { programs, image: dataOf(image), needs, directory, user, database, port, detached };
    const step = { step: 'start', label: `Start a server for ${target}`, done: `Started a server for ${target}` };
    server = await withStep(context.report, step, () => facet.start(context, start));
    if (server) {
      const owner = detached ? await identityOf(server.pid) : record.owner;
      await writeRecord(context, { ...record, port: server.port, url: server.url.display, owner });
      await noteUse(context, image);
    }
    return server && { record, server };
  } catch (error) {
    server = null;
    throw error;
  } finally {
    if (!server) await removeServer(context, record);
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

async function open(context: Context, given: UpRequest) {
  const request = await withSanitizedDefault(context, given);
  const { target } = request;
  const found = await findLoadable(context, request);
  const { manifest } = found;
  const facet = await engineOf(manifest.engine).images();
  const programs = await facet.findPrograms(context, manifest);
  const wanted = imageKeyOf(facet, { target, manifest, programs });
  return { request, found, facet, wanted };
}

function endedByItself({ target, snapshot }: ServerRecord, { stderr }: { stderr: string }): UserError {
  const message = `The server for ${target} (snapshot ${snapshot}) ended: neither Ctrl-C nor tool down stopped it`;
  const said = stderr.trim().split('\n').slice(-MOST_LINES);
  return new UserError('server_ended', message, {
    details: said.join('') === '' ? ['It reported nothing: another program may have killed it.'] : said,
    hint: `Its files are removed. Start another one: ${shell`tool up ${target}`}`,
  });
}

const MOST_LINES = 10;

function portTaken(port: number): UserError {
  return new UserError('invalid_value', `Port ${port} of 127.0.0.1 is taken or not permitted`, {
    hint: 'Choose another one, or leave out --port for a free one.',
  });
}
