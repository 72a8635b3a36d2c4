import { EXIT, UserError } from '../../../errors.ts';
import type { WarningEvent } from '../../../events.ts';
import type { CatalogueSchema } from '../catalogue.ts';
import { quoteText, type Session } from '../connection/session.ts';
import type { ArchiveDetails } from './archive.ts';
import { type BrokenObject, readBrokenDependencies } from './broken-dependencies.ts';
import { readCuts } from './cut-definitions.ts';

/** What a snapshot without some schemas leaves out of the others. */
export interface Broken {
  leftOut: ArchiveDetails['left_out'];
  /** Class and oid of each, as `readInventory` takes them. */
  keys: ReadonlySet<string>;
  cuts: Awaited<ReturnType<typeof readCuts>>;
  warnings: WarningEvent[];
}

/** Reads within the session's transaction; refuses what tables with rows cannot be without. */
export async function readBroken(session: Session, excluded: CatalogueSchema[]): Promise<Broken> {
  if (excluded.length === 0) return { leftOut: [], keys: new Set(), cuts: [], warnings: [] };
  const schemas = excluded.map(({ oid }) => oid);
  const broken = await readBrokenDependencies(session, schemas);
  refuseColumns(broken.refused, excluded);
  const { leftOut, detached, missingParts } = broken;
  return {
    cuts: await readCuts(session, broken, schemas),
    keys: new Set(leftOut.filter(({ column }) => column === 0).map((each) => `${each.class}:${each.oid}`)),
    leftOut: [
      ...leftOut.map(({ class: catalog, oid, column, kind, name, needs }) => ({
        ...{ kind, name, needs },
        // The entry of a table is not that of its column.
        ...(column === 0 ? { class: catalog, oid } : { oid: 0 }),
      })),
      ...[...detached, ...missingParts].map(({ kind, name, needs }) => ({ oid: 0, kind, name, needs })),
    ],
    warnings: [
      ...leftOut.map(({ kind, name, needs }) =>
        warning(`The ${kind} ${name} needs ${needs}, whose schema is not in the snapshot: it will not be restored`),
      ),
      ...detached.map(({ name, needs }) =>
        warning(
          `${name} is a part of ${needs}, whose schema is not in the snapshot: it is restored as a table of its own`,
        ),
      ),
      ...missingParts.map(({ name, needs }) =>
        warning(`The rows of ${name}, a part of ${needs}, are not in the snapshot: its schema is left out`),
      ),
    ],
  };
}

function warning(message: string): WarningEvent {
  return { event: 'warning', code: 'object_left_out', message };
}

/** A table cannot be made without the type of its column, and a snapshot without its rows is not what was asked for. */
function refuseColumns(refused: BrokenObject[], excluded: CatalogueSchema[]): void {
  if (refused.length === 0) return;
  const missing = excluded
    .map(({ name }) => name)
    .filter((name) => refused.some(({ needs }) => needs.startsWith(`${name}.`)));
  throw new UserError(`The chosen schemas cannot be restored without ${missing.map(quoteText).join(', ')}`, {
    code: 'schema_needed',
    exit: EXIT.failed,
    details: refused
      .slice(0, 20)
      .map(({ name, needs, needsKind }) => `${name} ${needsKind === 'type' ? 'is of type' : 'needs'} ${needs}`),
    hint: `Add to the target's schema_config.include_schemas: ${missing.join(', ')}`,
  });
}
