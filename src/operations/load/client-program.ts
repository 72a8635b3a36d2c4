import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keyText } from '../../config/keys/keys-in-effect.ts';
import type { ClientProgram } from '../../engines/facets/connect.ts';
import { openTunnel } from '../../engines/open-database.ts';
import { engineForUrl } from '../../engines/registry.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { planOutdated } from '../planned.ts';
import { withTargetUrls } from '../targets/with-target-urls.ts';
import { chooseDestination } from './destination.ts';

export interface ClientRequest {
  target: string;
  /** Without password: as the run has shown it. */
  url: string;
}

/** Runs psql or mysql on the destination of a target, as long as that is still the database of the URL. */
export async function withClient<Result>(
  given: Context,
  request: ClientRequest,
  run: (program: ClientProgram) => Promise<Result>,
): Promise<Result> {
  const context = await withTargetUrls(given, request.target, { source: false });
  const { text } = chooseDestination({ ...context, report: () => {} }, request);
  const engine = engineForUrl(text);
  const url = engine.parseUrl(text);
  if (url.display !== request.url) throw planOutdated(`The destination is ${url.display}, no longer ${request.url},`);
  if (url.inContainer) throw inContainer(url.display);
  const directory = await mkdtemp(join(tmpdir(), 'tool-client-'));
  try {
    return await run(await engine.clientProgram(context, { url: await openTunnel(context, url), directory }));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function inContainer(display: string): UserError {
  return new UserError('client_unavailable', `${display} is reachable from a container only`, {
    hint: `Press ${keyText('copy')} to copy its URL.`,
  });
}
