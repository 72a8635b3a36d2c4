import { engineForUrl } from '../../engines/registry.ts';
import { createObjectPool } from '../../repository/objects/object-pool.ts';
import type { Suggestion } from '../../results/sanitize-results.ts';
import type { Context } from '../../runtime/context.ts';
import { columnName } from '../../sanitize/column-facts.ts';
import { readKeepComments } from '../../sanitize/keep-comments.ts';
import { chooseQuery } from '../../sanitize/query.ts';
import { cpusFor } from '../cpus-for.ts';
import { localRepository } from '../snapshots/local-repository.ts';
import { refuseUntrusted } from '../snapshots/signatures.ts';
import { snapshotReader } from '../snapshots/snapshot-reader.ts';
import { findSnapshot } from '../snapshots/snapshots.ts';
import type { SanitizeRequest } from './sanitize.ts';
import { runQueryAndCompare } from './sanitize-database.ts';
import { choosePlaces, openPlace } from './sanitize-place.ts';

/** Writes a query for what the target's own query, if it has one, leaves: in a throw-away database, storing nothing. */
export async function suggest(context: Context, request: SanitizeRequest): Promise<Suggestion> {
  const { target } = request;
  const { manifest } = await findSnapshot(context, { ...request, original: true });
  refuseUntrusted(context, manifest, request);
  const engine = engineForUrl(`${manifest.engine}://`);
  const sanitizer = engine.sanitize;
  const query = await chooseQuery(context.configuration, target);
  const statements = query ? sanitizer.splitQuery(query.text) : [];
  const keep = query ? readKeepComments(query.text) : [];
  const places = await choosePlaces(context, { target, engine, ephemeral: true });
  const repository = localRepository(context);
  const jobs = request.cpus ?? cpusFor(context, target);

  await using opened = await openPlace(context, {
    places,
    manifest,
    engine,
    superuser: request.allowSuperuser ?? false,
  });
  await using staging = await repository.stage();
  const pool = createObjectPool(jobs + 1);
  await using _closing = { [Symbol.asyncDispose]: () => pool.close() };
  let suggestion: Suggestion = { findings: [], query: '' };
  await engine.restore.run(context, {
    ...opened.restoration,
    plan: opened.plan,
    jobs,
    undo: false,
    directory: await staging.folder('restore'),
    read: snapshotReader({ manifest, repository, pool, signal: context.signal }),
    throwAway: true,
    async beforeSwap(url) {
      const work = { engine, url, manifest, statements, keep };
      const { findings, suspicions, columns } = await runQueryAndCompare(context, work);
      const left = new Set(findings.map(({ column }) => column));
      const suspects = suspicions.filter(({ facts }) => left.has(columnName(facts)));
      suggestion = { findings, query: await sanitizer.suggestQuery(context, { url, columns, suspects }) };
    },
  });
  return suggestion;
}
