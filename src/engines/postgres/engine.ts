import type { Engine } from '../engine.ts';
import { wrapEngine } from '../wrap-engine.ts';
import { branches } from './branches/branches.ts';
import { countRows, listDatabases, listSchemas, listTables } from './browse.ts';
import { clientProgram } from './connection/client-program.ts';
import { withExplainedErrors } from './connection/explain-errors.ts';
import { identifyAffected } from './connection/identity.ts';
import { addressesOf, databaseOf } from './connection/location.ts';
import { probe } from './connection/probe.ts';
import { parsePostgresUrl } from './connection/url.ts';
import { dump } from './dump/dump.ts';
import { readSmallTables } from './read-small-tables.ts';
import { chooseRestorer, inspectDestination, planRestore } from './restore/preflight.ts';
import { dropCopies, findAllCopies, findCopies, planReset, reset } from './restore/reset.ts';
import { restore } from './restore/restore.ts';
import { readTable } from './restore/stored-table.ts';
import { readNeeds } from './restore/table-needs.ts';
import { findKept, undo } from './restore/undo.ts';
import { readColumns } from './sanitize/columns.ts';
import { readDefinitions } from './sanitize/definitions.ts';
import { digestColumns } from './sanitize/digests.ts';
import { runQuery } from './sanitize/query.ts';
import { scratchPlaces } from './sanitize/scratch-places.ts';
import { splitStatements } from './sanitize/statements.ts';
import { suggestQuery } from './sanitize/suggestion.ts';
import { removeTraces } from './sanitize/traces.ts';
import { tryReplacements } from './sanitize/trial.ts';
import { checkScript, runScript } from './script/script.ts';
import { isSuperuser } from './server/superuser.ts';
import { checkDestination, createIndex } from './subset/destination.ts';
import { openSource } from './subset/source.ts';
import { reportTools } from './tools.ts';

const engine: Engine = {
  id: 'postgres',
  capabilities: { whyNotKeepGoing: null, onlyProgram: 'pg_dump' },
  connect: {
    parseUrl: parsePostgresUrl,
    reportTools,
    probe,
    listDatabases,
    listSchemas,
    listTables,
    addressesOf,
    databaseOf,
    identifyAffected,
    isSuperuser,
    inspect: async (context, url) => (await inspectDestination(context, url)).destination,
    countRows,
    clientProgram,
    readSmallTables,
  },
  dump: { run: dump },
  restore: {
    readNeeds,
    readTable: (_context, request) => readTable(request),
    plan: planRestore,
    chooseRestorer,
    run: restore,
    checkScript,
    runScript,
    findKept,
    undo,
    planReset,
    reset,
    findCopies,
    findAllCopies,
    dropCopies,
  },
  sanitize: {
    splitQuery: splitStatements,
    readColumns,
    digestColumns,
    readDefinitions: (_context, request) => readDefinitions(request),
    runQuery,
    removeTraces,
    suggestQuery,
    tryReplacements,
    scratchPlaces,
  },
  subset: { openSource, checkDestination, createIndex },
  branches,
};

export const postgres = wrapEngine(engine, (call, work) => withExplainedErrors(call, () => work(call.context)));
