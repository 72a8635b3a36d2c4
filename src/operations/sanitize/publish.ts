import type { LocalRepository } from '../../repository/local-repository.ts';
import type { Manifest } from '../../repository/manifest/manifest.ts';
import type { StoredCoverage } from '../../results/manifest/stored-coverage.ts';
import type { Coverage } from '../../results/review/sanitize-results.ts';
import type { Context } from '../../runtime/context.ts';
import { withStep } from '../../runtime/events.ts';
import type { Statement } from '../../sanitize/statement.ts';
import { signed } from '../snapshots/signatures.ts';
import { manifestOf } from '../snapshots/store-dump.ts';
import { carriedOver } from './carried-over.ts';
import type { SanitizedDump } from './sanitize-database.ts';

interface Publication {
  repository: LocalRepository;
  original: Manifest;
  sanitized: SanitizedDump;
  statements: Statement[];
}

/** Writes the manifest: from here on the sanitized snapshot is there. It replaces the one that was there before. */
export async function publish(
  context: Context,
  { repository, original, sanitized, statements }: Publication,
): Promise<Manifest> {
  const { report, clock, signal } = context;
  const { target, created_at, engine, id: sanitized_of } = original;
  const content: Manifest = {
    ...manifestOf(engine, sanitized),
    ...{ target, created_at, sanitized_of },
    ...carriedOver(original),
    sanitized: true,
    sanitized_at: clock().toISOString(),
    coverage: coverageToStore(sanitized.coverage),
    ...(sanitized.classified && { classified: sanitized.classified }),
  };
  const step = {
    step: 'store',
    label: 'Store the sanitized snapshot',
    done: `Stored sanitized snapshot ${content.id}`,
  };
  return withStep(report, step, async () => {
    const manifest = await signed(context, content);
    const earlier = (await repository.list(target)).filter(
      (other) => other.sanitized_of === sanitized_of && !other.pinned,
    );
    signal.throwIfAborted();
    await repository.writeQuery(manifest.id, queryText(statements));
    await repository.write(manifest);
    for (const replaced of earlier) await repository.remove(replaced);
    return manifest;
  });
}

function queryText(statements: Statement[]): string {
  return statements.map(({ text }) => `${text.replace(/;?\s*$/, '')};\n`).join('\n');
}

const MOST_UNCHANGED = 1000;

/** Columns that hold values of others do not look personal themselves, but are left to change. */
function coverageToStore({ findings, acknowledged, changed }: Coverage): StoredCoverage {
  const own = findings.filter(({ state }) => state !== 'leaked');
  return {
    columns: own.length + acknowledged.length + changed.length,
    changed: changed.length,
    kept: acknowledged.length,
    unchanged: findings.slice(0, MOST_UNCHANGED).map(({ column }) => column),
  };
}
