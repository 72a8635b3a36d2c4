import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keyText } from '../../../config/keys/keys-in-effect.ts';
import { connectionUrl } from '../../../config/urls/connection-url.ts';
import type { DatabaseUrl } from '../../../engines/database-url.ts';
import type { Engine } from '../../../engines/engine.ts';
import type { ClientProgram } from '../../../engines/facets/connect.ts';
import { openTunnel } from '../../../engines/open-database.ts';
import { engineForUrl } from '../../../engines/registry.ts';
import type { Context } from '../../../runtime/context.ts';
import { UserError } from '../../../runtime/errors.ts';
import { planOutdated } from '../../planned.ts';
import { withTargetUrls } from '../../targets/with-target-urls.ts';
import { readIfSet } from '../configured-destination.ts';
import { chooseDestination } from '../destination.ts';

export interface ClientRequest {
  target: string;
  /** Without password: as the run has shown it. */
  url: string;
  /** The whole URL of a server of `tool up`; `null` for other databases. */
  server?: string | null;
}

/**
 * Runs psql or mysql on the destination of a target, its subset or sanitization, or a branch, as long as the URL leads
 * there; or on a server.
 */
export async function withClient<Result>(
  given: Context,
  request: ClientRequest,
  run: (program: ClientProgram) => Promise<Result>,
): Promise<Result> {
  const { server = null } = request;
  const context = server === null ? await withTargetUrls(given, request.target, { source: false }) : given;
  const { engine, url } = server === null ? databaseOf(context, request) : parsed(server);
  if (url.inContainer) throw inContainer(url.display);
  const directory = await mkdtemp(join(tmpdir(), 'tool-client-'));
  try {
    return await run(await engine.clientProgram(context, { url: await openTunnel(context, url), directory }));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function parsed(text: string): { engine: Engine; url: DatabaseUrl } {
  const engine = engineForUrl(text);
  return { engine, url: engine.parseUrl(text) };
}

function databaseOf(context: Context, { target, url: shown }: ClientRequest): { engine: Engine; url: DatabaseUrl } {
  const { configuration } = context;
  const { text } = chooseDestination({ ...context, report: () => {} }, { target });
  const others = (['subset', 'sanitize'] as const).flatMap(
    (part) => readIfSet(() => connectionUrl(configuration, `targets.${target}.${part}.dst_url`)) ?? [],
  );
  const urls = [text, ...others].map(parsed);
  const found = urls.find(({ url }) => url.display === shown);
  if (found) return found;
  const { engine, url: destination } = parsed(text);
  // A branch is another database of the same server.
  const branch = engine.withDatabase(destination, engine.parseUrl(shown).database ?? '');
  if (branch.display === shown) return { engine, url: branch };
  throw planOutdated(`The destination is ${destination.display}, no longer ${shown},`);
}

function inContainer(display: string): UserError {
  return new UserError('client_unavailable', `${display} is reachable from a container only`, {
    hint: `Press ${keyText('copy')} to copy its URL.`,
  });
}
