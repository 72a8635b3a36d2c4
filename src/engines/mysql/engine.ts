import type { Engine, Facets } from '../engine.ts';
import { type EngineCalls, engineCalls } from '../shared/engine-calls.ts';
import { databaseOf, parseMysqlUrl, urlVariables, urlWithPassword, withDatabase } from './connection/url.ts';

export const mysql: Engine = {
  id: 'mysql',
  capabilities: {
    undoCopyIsDatabase: false,
    whyNotKeepGoing: 'the swap of a MySQL database renames every table of the snapshot, so none may be missing',
    onlyProgram: null,
    branchesCopiedBy: 'rows',
  },
  parseUrl: parseMysqlUrl,
  urlWithPassword,
  urlVariables,
  withDatabase,
  databaseOf,
  reportTools: async (context) => (await import('./connection/tools.ts')).reportTools(context),
  clientProgram: async (context, request) =>
    (await import('./connection/client-options.ts')).clientProgram(context, request),
  splitQuery: async (query) => (await import('./sanitize/statements.ts')).splitStatements(query),
  readDefinitions: async (request) => (await import('./sanitize/definitions.ts')).readDefinitions(request),
  readTable: async (request) => (await import('./restore/stored-table.ts')).readTable(request),
  readDump: async (path) => (await import('./restore/dump-file/read-dump.ts')).readDump(path),
  scratchPlaces: async (context, destination) =>
    (await import('./sanitize/scratch-places.ts')).scratchPlaces(context, destination),
  images: async () => (await import('./images/images.ts')).images,
  withExplainedErrors: async (place, work) =>
    (await import('./connection/explain-errors.ts')).withExplainedErrors(place, work),
  open(connection) {
    const calls = engineCalls(connection);
    return {
      connect: connectFacet(calls),
      dump: dumpFacet(calls),
      restore: restoreFacet(calls),
      sanitize: sanitizeFacet(calls),
      subset: subsetFacet(calls),
      rehearse: rehearseFacet(calls),
      branches: branchesFacet(calls),
    };
  },
};

const connectFacet = ({ call, ask, askAll, short }: EngineCalls): Facets['connect'] => ({
  probe: askAll(async () => (await import('./connection/probe.ts')).probe),
  listDatabases: short.call(async () => (await import('./catalog/browse.ts')).listDatabases),
  listSchemas: async () => [],
  listTables: short.call(async () => (await import('./catalog/browse.ts')).listTables),
  readAddresses: call(async () => (await import('./connection/location.ts')).addressesOf),
  identifyAffected: short.call(async () => (await import('./connection/identity.ts')).identifyAffected),
  isSuperuser: call(async () => (await import('./server/superuser.ts')).isSuperuser),
  inspect: () =>
    short.run(async (context, url) => {
      const { inspectDestination } = await import('./restore/inspect-destination.ts');
      return (await inspectDestination(context, url)).destination;
    }),
  countRows: (manifest) => ask(async () => (await import('./catalog/browse.ts')).countRows)({ manifest }),
  readSmallTables: ask(async () => (await import('./catalog/browse.ts')).readSmallTables),
  readValue: (select) => ask(async () => (await import('./catalog/browse.ts')).readValue)({ select }),
});

const dumpFacet = ({ ask }: EngineCalls): Facets['dump'] => ({
  run: ask(async () => (await import('./dump/dump.ts')).dump),
  isUnchanged: async () => false,
});

const restoreFacet = ({ run, call, ask, short }: EngineCalls): Facets['restore'] => ({
  readNeeds: (request) =>
    run(async (_, url) => (await import('./restore/table-needs.ts')).readNeeds({ ...request, url })),
  plan: (request) =>
    ask(async () =>
      request.onlyRows
        ? (await import('./restore/only-rows/plan-only-rows.ts')).planOnlyRows
        : (await import('./restore/preflight.ts')).planRestore,
    )(request),
  chooseRestorer: ask(async () => (await import('./restore/temporary-user.ts')).chooseRestorer),
  run: ask(async () => (await import('./restore/restore.ts')).restore),
  checkScript: (file) => ask(async () => (await import('./restore/script/script.ts')).checkScript)({ file }),
  runScript: ask(async () => (await import('./restore/script/script.ts')).runScript),
  changeStatements: ask(async () => (await import('./restore/change-statements.ts')).changeStatements),
  readBaseChanges: async () => null,
  restoreDump: call(async () => (await import('./restore/dump-file/restore-dump.ts')).restoreDump),
  readChangeMark: call(async () => (await import('./swap/change-mark.ts')).readChangeMark),
  findUndoCopy: call(async () => (await import('./swap/undo.ts')).findUndoCopy),
  undo: call(async () => (await import('./swap/undo.ts')).undo),
  readPresentTables: ask(async () => (await import('./restore/stored-table.ts')).readPresentTables),
  planReset: ask(async () => (await import('./branches/reset-destination.ts')).planReset),
  reset: ask(async () => (await import('./branches/reset-destination.ts')).reset),
  resetInPlace: ask(async () => (await import('./branches/in-place/reset-in-place.ts')).resetInPlace),
  findCopies: call(async () => (await import('./branches/destination-copies.ts')).findCopies),
  findAllCopies: (urls) =>
    short.askAll(async () => (await import('./branches/destination-copies.ts')).findAllCopies)({ urls }),
  dropCopies: call(async () => (await import('./branches/destination-copies.ts')).dropCopies),
});

const sanitizeFacet = ({ call, ask }: EngineCalls): Facets['sanitize'] => ({
  readContents: call(async () => (await import('./sanitize/contents.ts')).readContents),
  readColumns: (manifest) => ask(async () => (await import('./sanitize/columns.ts')).readColumns)({ manifest }),
  digestColumns: call(async () => (await import('./sanitize/digests.ts')).digestColumns),
  runQuery: ask(async () => (await import('./sanitize/query.ts')).runQuery),
  insertCanaries: ask(async () => (await import('./sanitize/canaries.ts')).insertCanaries),
  removeTraces: ask(async () => (await import('./sanitize/traces.ts')).removeTraces),
  suggestQuery: ask(async () => (await import('./sanitize/suggestion.ts')).suggestQuery),
  tryReplacements: ask(async () => (await import('./sanitize/trial.ts')).tryReplacements),
});

const subsetFacet = ({ call, ask }: EngineCalls): Facets['subset'] => ({
  openSource: (cpus) => ask(async () => (await import('./subset/source.ts')).openSource)({ cpus }),
  checkDestination: call(async () => (await import('./subset/destination.ts')).checkDestination),
});

const rehearseFacet = ({ call, ask }: EngineCalls): Facets['rehearse'] => ({
  checkFile: (file, database) =>
    ask(async () => (await import('./rehearse/run-sql-file.ts')).checkSqlFile)({ file, database }),
  observe: call(async () => (await import('./rehearse/observe.ts')).observe),
});

const branchesFacet = ({ call, ask }: EngineCalls): Facets['branches'] => ({
  list: call(async () => (await import('./branches/list.ts')).listBranches),
  plan: (copies) => ask(async () => (await import('./branches/plan.ts')).planBranches)({ copies }),
  create: ask(async () => (await import('./branches/create.ts')).createBranch),
  replaceTakenSpare: call(async () => (await import('./branches/base/create-spare.ts')).replaceTakenSpare),
  reset: ask(async () => (await import('./branches/reset-branch.ts')).resetBranch),
  keepOpen: (name) =>
    ask(async () => (await import('./branches/in-place/reset-branch-in-place.ts')).openBranchReset)({ name }),
  drop: (name) => ask(async () => (await import('./branches/drop.ts')).dropBranch)({ name }),
  switchTo: (name) => ask(async () => (await import('./branches/switch.ts')).switchTo)({ name }),
});
