import type { Engine } from '../engine.ts';
import { createBranch } from './branches/create.ts';
import { dropBranch } from './branches/drop.ts';
import { listBranches } from './branches/list.ts';
import { planBranches } from './branches/plan.ts';
import { resetBranch } from './branches/reset-branch.ts';
import { dropCopies, findAllCopies, findCopies, planReset, reset } from './branches/reset-destination.ts';
import { switchTo } from './branches/switch.ts';
import { countRows, listDatabases, listSchemas, listTables } from './catalog/browse.ts';
import { readSmallTables } from './catalog/read-small-tables.ts';
import { clientProgram } from './connection/client-program.ts';
import { withExplainedErrors } from './connection/explain-errors.ts';
import { identifyAffected } from './connection/identity.ts';
import { addressesOf, databaseOf } from './connection/location.ts';
import { probe } from './connection/probe.ts';
import { reportTools } from './connection/tools.ts';
import { parsePostgresUrl, urlVariables, urlWithPassword, withDatabase } from './connection/url.ts';
import { dump } from './dump/dump.ts';
import { chooseRestorer, planRestore } from './restore/preflight.ts';
import { restore } from './restore/restore.ts';
import { checkScript, runScript } from './restore/script/script.ts';
import { readTable } from './restore/stored-table.ts';
import { readNeeds } from './restore/table-needs.ts';
import { readColumns } from './sanitize/columns.ts';
import { readDefinitions } from './sanitize/definitions.ts';
import { digestColumns } from './sanitize/digests.ts';
import { runQuery } from './sanitize/query.ts';
import { scratchPlaces } from './sanitize/scratch-places.ts';
import { splitStatements } from './sanitize/statements.ts';
import { suggestQuery } from './sanitize/suggestion.ts';
import { removeTraces } from './sanitize/traces.ts';
import { tryReplacements } from './sanitize/trial.ts';
import { isSuperuser } from './server/rights.ts';
import { NAME_LIMIT } from './server/server.ts';
import { checkDestination, createIndex } from './subset/destination.ts';
import { openSource } from './subset/source.ts';
import { inspectDestination } from './swap/inspect-destination.ts';
import { findUndoCopy, undo } from './swap/undo.ts';

export const postgres: Engine = {
  id: 'postgres',
  capabilities: {
    whyNotKeepGoing: null,
    onlyProgram: 'pg_dump',
    branchesCopiedBy: 'files',
    nameLimit: { most: NAME_LIMIT, lengthOf: Buffer.byteLength },
  },
  parseUrl: parsePostgresUrl,
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
      listSchemas: () => runShort((context) => listSchemas(context, url)),
      listTables: () => runShort((context) => listTables(context, url)),
      readAddresses: () => run((context) => addressesOf(context, url)),
      identifyAffected: () => runShort((context) => identifyAffected(context, url)),
      isSuperuser: () => run((context) => isSuperuser(context, url)),
      inspect: () => runShort(async (context) => (await inspectDestination(context, url)).destination),
      countRows: () => run((context) => countRows(context, { url })),
      readSmallTables: (request) => run((context) => readSmallTables(context, { ...request, url })),
    },
    dump: { run: (request) => run((context) => dump(context, { ...request, url })) },
    restore: {
      readNeeds: (request) => run((context) => readNeeds(context, { ...request, url })),
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
