import type { WarningEvent } from '../../../results/events.ts';
import { UserError } from '../../../runtime/errors.ts';
import { boundedLines, boundedList } from '../../../text/bounded-list.ts';
import type { CatalogSchema } from '../catalog/introspect.ts';
import { quoteText } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';
import type { ArchiveDetails } from './archive.ts';
import {
  type BrokenObject,
  type NeededSchema,
  readBrokenDependencies,
  readNeededSchemas,
} from './broken-dependencies.ts';
import { readCuts } from './cut-definitions.ts';
import { readGraph } from './dependency-graph.ts';

/** Objects of the chosen schemas that a snapshot without the other schemas leaves out or changes. */
export interface BrokenSelection {
  leftOut: ArchiveDetails['left_out'];
  /** Class and oid of each, as `readInventory` takes them. */
  keys: ReadonlySet<string>;
  cuts: Awaited<ReturnType<typeof readCuts>>;
  /** Schemas that were not chosen and are in the snapshot, since tables need them. */
  needed: string[];
  warnings: WarningEvent[];
}

export interface Exclusion {
  excluded: CatalogSchema[];
  /** Adds schemas without which tables cannot be restored, where the build is refused otherwise. */
  includeNeeded: boolean;
}

/** Reads within the session's transaction; refuses what tables with rows cannot be without. */
export async function readBroken(
  session: PostgresSession,
  { excluded, includeNeeded }: Exclusion,
): Promise<BrokenSelection> {
  if (excluded.length === 0) return { leftOut: [], keys: new Set(), cuts: [], needed: [], warnings: [] };
  const graph = await readGraph(session);
  const chosen = excluded.map(({ oid }) => oid);
  const needed = await readNeededSchemas(session, { graph, leftOutSchemas: chosen });
  const nameOf = ({ oid }: NeededSchema): string => excluded.find((schema) => schema.oid === oid)?.name ?? '';
  if (needed.length > 0 && !includeNeeded) throw schemaNeeded(needed, nameOf);
  const schemas = chosen.filter((oid) => !needed.some((each) => each.oid === oid));
  const broken = await readBrokenDependencies(session, { graph, leftOutSchemas: schemas });
  const { leftOut, detached, missingParts } = broken;
  return {
    cuts: await readCuts(session, broken, schemas),
    keys: new Set(leftOut.filter(({ column }) => column === 0).map((each) => `${each.class}:${each.oid}`)),
    needed: needed.map(nameOf),
    leftOut: [
      ...leftOut.map(({ class: catalog, oid, column, kind, name, needs }) => ({
        ...{ kind, name, needs },
        // The entry of a table is not that of its column.
        ...(column === 0 ? { class: catalog, oid } : { oid: 0 }),
      })),
      ...[...detached, ...missingParts].map(({ kind, name, needs }) => ({ oid: 0, kind, name, needs })),
    ],
    warnings: [
      ...needed.map((each) => includedWarning(nameOf(each), each)),
      ...together(leftOut, ({ name }) => name.slice(name.lastIndexOf('.'))).map(({ kind, names, needs, isOne }) =>
        warning(
          isOne
            ? `The ${kind} ${names} needs ${needs}, whose schema is not in the snapshot: it will not be restored`
            : `The ${kind}s ${names} need ${needs}, whose schema is not in the snapshot: they will not be restored`,
        ),
      ),
      ...together(detached).map(({ names, needs, isOne }) =>
        warning(
          isOne
            ? `${names} is a part of ${needs}, whose schema is not in the snapshot: it is restored as a table of its own`
            : `${names} are parts of ${needs}, whose schema is not in the snapshot: they are restored as tables of their own`,
        ),
      ),
      ...together(missingParts).map(({ names, needs, isOne }) =>
        warning(
          isOne
            ? `The rows of ${names}, a part of ${needs}, are not in the snapshot: its schema is left out`
            : `The rows of ${names}, parts of ${needs}, are not in the snapshot: their schema is left out`,
        ),
      ),
    ],
  };
}

/** One for the parts of a table, which have the same constraints and triggers, with a few of their names and a count. */
function together(objects: BrokenObject[], nameOf: (object: BrokenObject) => string = () => '') {
  const groups = Map.groupBy(objects, (each) => JSON.stringify([each.kind, each.needs, nameOf(each)]));
  return [...groups.values()].flatMap((all) => {
    const [first] = all;
    if (!first) return [];
    const names = boundedList(
      all.map(({ name }) => name),
      NAMED_IN_WARNING,
    );
    return [{ kind: first.kind, names, needs: first.needs, isOne: all.length === 1 }];
  });
}

function warning(message: string): WarningEvent {
  return { event: 'warning', code: 'object_left_out', message };
}

/** Most tables and columns to name for a schema that is included, and for a build that is refused. */
const NAMED_IN_WARNING = 3;
const NAMED_IN_ERROR = 20;

function includedWarning(schema: string, { by }: NeededSchema): WarningEvent {
  const reasons = boundedList(by.map(reasonOf), NAMED_IN_WARNING);
  return { event: 'warning', code: 'schema_included', message: `Included schema ${schema}: ${reasons}` };
}

function reasonOf({ name, needs, needsKind }: BrokenObject): string {
  return `${name} ${needsKind === 'type' ? 'is of type' : 'needs'} ${needs}`;
}

/** A table cannot be created without the type of its column, and a snapshot without its rows is not complete. */
function schemaNeeded(needed: NeededSchema[], nameOf: (schema: NeededSchema) => string): UserError {
  const names = needed.map(nameOf);
  const reasons = [...new Set(needed.flatMap(({ by }) => by.map(reasonOf)))];
  return new UserError(
    'schema_needed',
    `The chosen schemas cannot be restored without ${names.map(quoteText).join(', ')}`,
    {
      details: boundedLines(reasons, NAMED_IN_ERROR),
      hint: `Build with --include-needed-schemas, or add to the target's schema_config.include_schemas: ${names.join(', ')}`,
    },
  );
}
