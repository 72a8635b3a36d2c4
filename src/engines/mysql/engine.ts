import type { Engine } from '../engine.ts';
import { createBranch } from './branches/create.ts';
import { dropBranch } from './branches/drop.ts';
import { listBranches } from './branches/list.ts';
import { planBranches } from './branches/plan.ts';
import { resetBranch } from './branches/reset-branch.ts';
import { dropCopies, findAllCopies, findCopies, planReset, reset } from './branches/reset-destination.ts';
import { switchTo } from './branches/switch.ts';
import { countRows, listDatabases, listTables } from './catalog/browse.ts';
import { readSmallTables } from './catalog/read-small-tables.ts';
import { clientProgram } from './connection/client-program.ts';
import { withExplainedErrors } from './connection/explain-errors.ts';
import { identifyAffected } from './connection/identity.ts';
import { addressesOf, databaseOf } from './connection/location.ts';
import { probe } from './connection/probe.ts';
import { reportTools } from './connection/tools.ts';
import { parseMysqlUrl, urlVariables, urlWithPassword, withDatabase } from './connection/url.ts';
import { dump } from './dump/dump.ts';
import { inspectDestination, planRestore } from './restore/preflight.ts';
import { restore } from './restore/restore.ts';
import { checkScript, runScript } from './restore/script/script.ts';
import { readTable } from './restore/stored-table.ts';
import { readNeeds } from './restore/table-needs.ts';
import { chooseRestorer } from './restore/temporary-user.ts';
import { readColumns } from './sanitize/columns.ts';
import { readDefinitions } from './sanitize/definitions.ts';
import { digestColumns } from './sanitize/digests.ts';
import { runQuery } from './sanitize/query.ts';
import { scratchPlaces } from './sanitize/scratch-places.ts';
import { splitStatements } from './sanitize/statements.ts';
import { suggestQuery } from './sanitize/suggestion.ts';
import { removeTraces } from './sanitize/traces.ts';
import { tryReplacements } from './sanitize/trial.ts';
import { NAME_LIMIT } from './server/names.ts';
import { isSuperuser } from './server/superuser.ts';
import { checkDestination, createIndex } from './subset/destination.ts';
import { openSource } from './subset/source.ts';
import { findUndoCopy, undo } from './swap/undo.ts';

export const mysql: Engine = {
  id: 'mysql',
  capabilities: {
    whyNotKeepGoing: 'the swap of a MySQL database renames every table of the snapshot, so none may be missing',
    onlyProgram: null,
    branchesCopiedBy: 'rows',
    nameLimit: { most: NAME_LIMIT, lengthOf: ({ length }) => length },
  },
  parseUrl: parseMysqlUrl,
  urlWithPassword,
  urlVariables,
  withDatabase,
  databaseOf,
  reportTools,
  clientProgram,
  splitQuery: splitStatements,
  readDefinitions,
  readTable,
  scratchPlaces,
  createIndex,
  withExplainedErrors,
  open: ({ url, run, runShort }) => ({
    connect: {
      probe: (request) => run((context) => probe(context, request)),
      listDatabases: () => runShort((context) => listDatabases(context, url)),
      listSchemas: async () => [],
      listTables: () => runShort((context) => listTables(context, url)),
      readAddresses: () => run((context) => addressesOf(context, url)),
      identifyAffected: () => runShort((context) => identifyAffected(context, url)),
      isSuperuser: () => run((context) => isSuperuser(context, url)),
      inspect: () => runShort(async (context) => (await inspectDestination(context, url)).destination),
      countRows: (manifest) => run((context) => countRows(context, { url, manifest })),
      readSmallTables: (request) => run((context) => readSmallTables(context, { ...request, url })),
    },
    dump: { run: (request) => run((context) => dump(context, { ...request, url })) },
    restore: {
      readNeeds: (request) => run(() => readNeeds({ ...request, url })),
      plan: (request) => run((context) => planRestore(context, { ...request, url })),
      chooseRestorer: (request) => run((context) => chooseRestorer(context, { ...request, url })),
      run: (request) => run((context) => restore(context, { ...request, url })),
      checkScript: (file) => run((context) => checkScript(context, { url, file })),
      runScript: (request) => run((context) => runScript(context, { ...request, url })),
      findUndoCopy: () => run((context) => findUndoCopy(context, url)),
      undo: () => run((context) => undo(context, url)),
      planReset: (request) => run((context) => planReset(context, { ...request, url })),
      reset: (request) => run((context) => reset(context, { ...request, url })),
      findCopies: () => run((context) => findCopies(context, url)),
      findAllCopies: (urls) => runShort((context) => findAllCopies(context, { urls })),
      dropCopies: () => run((context) => dropCopies(context, url)),
    },
    sanitize: {
      readColumns: (manifest) => run((context) => readColumns(context, { url, manifest })),
      digestColumns: (columns) => run((context) => digestColumns(context, url, columns)),
      runQuery: (request) => run((context) => runQuery(context, { ...request, url })),
      removeTraces: (request) => run((context) => removeTraces(context, { ...request, url })),
      suggestQuery: (request) => run((context) => suggestQuery(context, { ...request, url })),
      tryReplacements: (request) => run((context) => tryReplacements(context, { ...request, url })),
    },
    subset: {
      openSource: (jobs) => run((context) => openSource(context, { url, jobs })),
      checkDestination: () => run((context) => checkDestination(context, url)),
    },
    branches: {
      list: () => run((context) => listBranches(context, url)),
      plan: (copies) => run((context) => planBranches(context, { url, copies })),
      create: (request) => run((context) => createBranch(context, { ...request, url })),
      reset: (request) => run((context) => resetBranch(context, { ...request, url })),
      drop: (name) => run((context) => dropBranch(context, { url, name })),
      switchTo: (name) => run((context) => switchTo(context, { url, name })),
    },
  }),
};
