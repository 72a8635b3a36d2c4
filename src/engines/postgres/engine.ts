import { alongside } from '../database-url.ts';
import type { Engine } from '../engine.ts';
import { databaseOf, parsePostgresUrl, urlVariables, urlWithPassword, withDatabase } from './connection/url.ts';

export const postgres: Engine = {
  id: 'postgres',
  capabilities: {
    undoCopyIsDatabase: true,
    whyNotKeepGoing: null,
    onlyProgram: 'pg_dump',
    branchesCopiedBy: 'files',
  },
  parseUrl: parsePostgresUrl,
  urlWithPassword,
  urlVariables,
  withDatabase,
  databaseOf,
  reportTools: async (context) => (await import('./connection/tools.ts')).reportTools(context),
  clientProgram: async (context, request) => (await import('./connection/tools.ts')).clientProgram(context, request),
  splitQuery: async (query) => (await import('./sanitize/statements.ts')).splitStatements(query),
  readDefinitions: async (request) => (await import('./sanitize/definitions.ts')).readDefinitions(request),
  readTable: async (request) => (await import('./restore/stored-table.ts')).readTable(request),
  readDump: async (path) => (await import('./restore/dump-file/read-dump.ts')).readDump(path),
  scratchPlaces: async (context, destination) =>
    (await import('./sanitize/scratch-places.ts')).scratchPlaces(context, destination),
  images: async () => (await import('./images/images.ts')).images,
  withExplainedErrors: async (place, work) =>
    (await import('./connection/explain-errors.ts')).withExplainedErrors(place, work),
  open: ({ run, runShort }) => ({
    connect: {
      probe: (request) =>
        run(async (context, url) =>
          (await import('./connection/probe.ts')).probe(context, { ...request, urls: alongside(url, request.urls) }),
        ),
      listDatabases: () =>
        runShort(async (context, url) => (await import('./catalog/browse.ts')).listDatabases(context, url)),
      listSchemas: () =>
        runShort(async (context, url) => (await import('./catalog/browse.ts')).listSchemas(context, url)),
      listTables: () =>
        runShort(async (context, url) => (await import('./catalog/browse.ts')).listTables(context, url)),
      readAddresses: () =>
        run(async (context, url) => (await import('./connection/location.ts')).addressesOf(context, url)),
      identifyAffected: () =>
        runShort(async (context, url) => (await import('./connection/identity.ts')).identifyAffected(context, url)),
      isSuperuser: () => run(async (context, url) => (await import('./server/rights.ts')).isSuperuser(context, url)),
      inspect: () =>
        runShort(async (context, url) => {
          const { inspectDestination } = await import('./restore/inspect-destination.ts');
          return (await inspectDestination(context, url)).destination;
        }),
      countRows: () => run(async (context, url) => (await import('./catalog/browse.ts')).countRows(context, { url })),
      readSmallTables: (request) =>
        run(async (context, url) =>
          (await import('./catalog/browse.ts')).readSmallTables(context, { ...request, url }),
        ),
      readValue: (select) =>
        run(async (context, url) => (await import('./catalog/browse.ts')).readValue(context, { url, select })),
    },
    dump: {
      run: (request) =>
        run(async (context, url) => (await import('./dump/dump.ts')).dump(context, { ...request, url })),
      isUnchanged: (fingerprints) =>
        run(async (context, url) =>
          (await import('./dump/unchanged/fingerprint.ts')).isUnchanged(context, { url, fingerprints }),
        ),
    },
    restore: {
      readNeeds: (request) =>
        run(async (context, url) => (await import('./restore/table-needs.ts')).readNeeds(context, { ...request, url })),
      plan: (request) =>
        run(async (context, url) =>
          request.onlyRows
            ? (await import('./restore/only-rows/plan-only-rows.ts')).planOnlyRows(context, { ...request, url })
            : (await import('./restore/preflight.ts')).planRestore(context, { ...request, url }),
        ),
      chooseRestorer: (request) =>
        run(async (context, url) =>
          (await import('./restore/preflight.ts')).chooseRestorer(context, { ...request, url }),
        ),
      run: (request) =>
        run(async (context, url) => (await import('./restore/restore.ts')).restore(context, { ...request, url })),
      checkScript: (file) =>
        run(async (context, url) => (await import('./restore/script/script.ts')).checkScript(context, { url, file })),
      runScript: (request) =>
        run(async (context, url) =>
          (await import('./restore/script/script.ts')).runScript(context, { ...request, url }),
        ),
      changeStatements: (request) =>
        run(async (context, url) =>
          (await import('./restore/changes/change-statements.ts')).changeStatements(context, { ...request, url }),
        ),
      readBaseChanges: (request) =>
        run(async (context, url) =>
          (await import('./restore/changes/base-changes.ts')).readBaseChanges(context, { ...request, url }),
        ),
      restoreDump: (dump) =>
        run(async (context, url) =>
          (await import('./restore/dump-file/restore-dump.ts')).restoreDump(context, url, dump),
        ),
      readChangeMark: () =>
        run(async (context, url) => (await import('./swap/change-mark.ts')).readChangeMark(context, url)),
      findUndoCopy: () => run(async (context, url) => (await import('./swap/undo.ts')).findUndoCopy(context, url)),
      undo: (request) =>
        run(async (context, url) => (await import('./swap/undo.ts')).undo(context, { ...request, url })),
      readPresentTables: (request) =>
        run(async (context, url) =>
          (await import('./restore/only-rows/present-tables.ts')).readPresentTables(context, { ...request, url }),
        ),
      planReset: (request) =>
        run(async (context, url) =>
          (await import('./branches/reset-destination.ts')).planReset(context, { ...request, url }),
        ),
      reset: (request) =>
        run(async (context, url) =>
          (await import('./branches/reset-destination.ts')).reset(context, { ...request, url }),
        ),
      resetInPlace: (request) =>
        run(async (context, url) =>
          (await import('./branches/in-place/reset-in-place.ts')).resetInPlace(context, { ...request, url }),
        ),
      findCopies: () =>
        run(async (context, url) => (await import('./branches/destination-copies.ts')).findCopies(context, url)),
      findAllCopies: (urls) =>
        runShort(async (context, url) =>
          (await import('./branches/destination-copies.ts')).findAllCopies(context, { urls: alongside(url, urls) }),
        ),
      dropCopies: () =>
        run(async (context, url) => (await import('./branches/destination-copies.ts')).dropCopies(context, url)),
    },
    sanitize: {
      readContents: (schemaConfig) =>
        run(async (context, url) => (await import('./sanitize/contents.ts')).readContents(context, url, schemaConfig)),
      readColumns: (manifest) =>
        run(async (context, url) => (await import('./sanitize/columns.ts')).readColumns(context, { url, manifest })),
      digestColumns: (columns) =>
        run(async (context, url) => (await import('./sanitize/digests.ts')).digestColumns(context, url, columns)),
      runQuery: (request) =>
        run(async (context, url) => (await import('./sanitize/query.ts')).runQuery(context, { ...request, url })),
      insertCanaries: (request) =>
        run(async (context, url) =>
          (await import('./sanitize/canaries.ts')).insertCanaries(context, { ...request, url }),
        ),
      removeTraces: (request) =>
        run(async (context, url) => (await import('./sanitize/traces.ts')).removeTraces(context, { ...request, url })),
      suggestQuery: (request) =>
        run(async (context, url) =>
          (await import('./sanitize/suggestion.ts')).suggestQuery(context, { ...request, url }),
        ),
      tryReplacements: (request) =>
        run(async (context, url) =>
          (await import('./sanitize/trial.ts')).tryReplacements(context, { ...request, url }),
        ),
    },
    subset: {
      openSource: (cpus) =>
        run(async (context, url) => (await import('./subset/source.ts')).openSource(context, { url, cpus })),
      checkDestination: () =>
        run(async (context, url) => (await import('./subset/destination.ts')).checkDestination(context, url)),
    },
    rehearse: {
      observe: () => run(async (context, url) => (await import('./rehearse/observe.ts')).observe(context, url)),
    },
    branches: {
      list: () => run(async (context, url) => (await import('./branches/list.ts')).listBranches(context, url)),
      plan: (copies) =>
        run(async (context, url) => (await import('./branches/plan.ts')).planBranches(context, { url, copies })),
      create: (request) =>
        run(async (context, url) => (await import('./branches/create.ts')).createBranch(context, { ...request, url })),
      replaceTakenSpare: () =>
        run(async (context, url) => (await import('./branches/create-spare.ts')).replaceTakenSpare(context, url)),
      reset: (request) =>
        run(async (context, url) =>
          (await import('./branches/reset-branch.ts')).resetBranch(context, { ...request, url }),
        ),
      keepOpen: (name) =>
        run(async (context, url) =>
          (await import('./branches/in-place/reset-branch-in-place.ts')).openBranchReset(context, { url, name }),
        ),
      drop: (name) =>
        run(async (context, url) => (await import('./branches/drop.ts')).dropBranch(context, { url, name })),
      switchTo: (name) =>
        run(async (context, url) => (await import('./branches/switch.ts')).switchTo(context, { url, name })),
    },
  }),
};
