import { expect, it } from 'vitest';
import { readsWithoutHint, unquotedInterpolations } from '../helpers/databases/sql-interpolations.ts';

/**
 * Every expression in SQL that is neither a call of a quoting function nor a constant. Each was read: it is SQL that was
 * quoted where it was made, or a number or word of ours. A new one is to be quoted, or read and added here.
 */
const POSTGRES: Record<string, string[]> = {
  // Columns and catalogs of this file.
  'dump/superuser-objects.ts': [
    ...['alias', 'catalog', 'column'],
    'inSchemas("p.pronamespace")',
    'inSchemas("t.typnamespace")',
    'inSchemas("o.opcnamespace")',
    'inSchemas("o.opfnamespace")',
    'inSchemas("o.prsnamespace")',
    'inSchemas("o.tmplnamespace")',
    'own("pg_am", "o")',
    'own("pg_cast", "o")',
    'own("pg_foreign_data_wrapper", "o")',
    'own("pg_language", "o")',
    'own("pg_opclass", "o")',
    'own("pg_opfamily", "o")',
    'own("pg_proc", "p")',
    'own("pg_transform", "o")',
    'own("pg_ts_parser", "o")',
    'own("pg_ts_template", "o")',
    'own("pg_type", "t")',
  ],
  // Expressions of this file over quoted numbers.
  'dump/unchanged/count-rows.ts': ['fresh', 'where'],
  // Literals, names and conditions of quoteText and quoteName; tables by the server's own query.
  'restore/changes/change-statements.ts': [
    ...['equal', 'given', 'keyCondition(before, ObjectExpression)', 'keyCondition(line, ObjectExpression)'],
    ...['literal(value)', 'name', 'path', 'rowCondition(line, columns)', 'set.join(", ")', 'setting'],
  ],
  // A list of numbers.
  'dump/unchanged/read-state.ts': ['oids'],
  // Queries of this folder, constants.
  'rehearse/relations.ts': ['query'],
  // Conditions of quoted numbers.
  'dump/unchanged/scan.ts': ['conditionOf(range)', 'hasFresh(xmin)'],
  // Names and texts that were parsed and are quoted anew; words of the expression that parses them.
  'restore/event-triggers.ts': [
    ...['ENABLED.state ?? "ENABLE"', 'event', 'state', 'texts.join(", ")', 'when'],
    ...['written(comment.name)', 'written(name)', 'written(routine)', 'written(schema)'],
  ],
  // A quoted name, and queries of ours.
  'restore/temporary-role.ts': ['OWNABLE', 'oid(name)', 'oid(self.name ?? "")', 'role'],
  // An expression of this file.
  'branches/list.ts': ['belongsTo("j.of")', 'bytes'],
  // Names of quoteName, numbers, and what a server wrote as text of quoteText; conditions of these.
  'restore/changes/base-changes.ts': ['pathOf(table)', 'quoteIds(some)', 'rows'],
  'branches/in-place/find-changes.ts': ['HAS_MAPS', 'condition', 'oids', 'pathOf(table)'],
  'branches/in-place/row-places.ts': ['isFresh', 'pathOf(table)', 'tids(0)', 'tids(1)'],
  'dump/unchanged/visibility-maps.ts': ['list.join(", ")'],
  'branches/in-place/replace-versions.ts': [
    ...['names.join(", ")', 'names.map(ArrowFunctionExpression).join(", ")', 'path', 'quoteIds(ids)', 'statement'],
  ],
  'branches/in-place/reset-in-place.ts': ['list', 'path'],
  'branches/in-place/missing-versions.ts': ['condition', 'pathOf(table)'],
  'branches/in-place/row-versions.ts': ['from', 'pathOf(table)', 'where'],
  // A column of our own query, or a text that quoteText has quoted.
  'swap/mark.ts': ['belongsTo(quoteText(destination))', 'destination'],
  // Conditions with names of quoteName.
  'dump/excluded-rows.ts': ['referencing(columns, quoteName)'],
  // Expressions of ours on columns.
  // One SELECT of the user's, from the command line, on a throw-away database.
  // Names by format('%I'); conditions of ours.
  'statistics/gather.ts': ['relation', 'some.join(", ")', 'which'],
  // Queries and columns of ours.
  'statistics/stored-file.ts': ['condition'],
  'statistics/store.ts': ['fields.join(", ")', 'gatheredParts(recent)', 'name'],
  'statistics/take-over.ts': ['fields.map(ArrowFunctionExpression).join(", ")', 'gatheredParts()'],
  'catalog/browse.ts': ['namePartOf("c.relname")', 'namePartOf("n.nspname")', 'select'],
  // Lists of quoted names, and queries of this file.
  'catalog/introspect.ts': [
    ...[
      'inList(schemas)',
      'namePartOf("n.nspname")',
      'namePartOf("schemaname")',
      'sql.replaceAll(SELECTED, ArrowFunctionExpression)',
    ],
    ...['union.join(" UNION ALL ")', 'within'],
  ],
  // The query of the caller.
  'connection/session.ts': ['sql'],
  // Base64.
  'connection/psql-exchange.ts': ['textOfLiteral(statement)'],
  // A number, base64, and both.
  'restore/script/run-file.ts': ['at + 1', 'textOfLiteral(Buffer.from(name, "latin1"))', 'values.join(", ")'],
  // Parsed by the grammar of COPY and quoted anew; a message.
  'restore/script/copy-statement.ts': ['columns', 'path.join(".")', 'what', 'written === "" ? "" : `…`'],
  // Patterns of statements of a dump, which are compared and not sent.
  'restore/dump-file/read-statement.ts': ['NAME', 'NAMES'],
  // Looked for in definitions, or put into one: names and expressions as the server itself has written them; settings of ours.
  'dump/cut-definitions.ts': ['column', 'name', 'schema', 'setting', 'table', 'text'],
  // `relations` takes conditions of ours; the rest are hints for people, with names by quote_ident.
  'dump/rights.ts': [...['condition', 'free < 1 ? "A build needs two connections: raise" : fewer', 'names', 'within']],
  // Conditions with numbers of quoteNumber; names of quoteName.
  'dump/ranges.ts': [
    ...['conditionOf(ObjectExpression)', 'conditions.join(" AND ")', 'list', 'list === "" ? "" : `…`'],
  ],
  // Names that quoteName has quoted; operators as the server names them, without letters or quotes; our own numbers.
  'restore/difference/replace-rows.ts': ['columns.join(", ")', 'index', 'isSame', 'keys'],
  // A text that quoteText has quoted; tables of our own queries.
  'restore/difference/replaceable.ts': ['given', 'withAncestors("(SELECT index, oid FROM given)")'],
  // A query of quoted literals.
  'dump/instant.ts': ['tablesQuery(schemas)'],
  // Names are quoted by quoteName, texts by quoteText; the rest are numbers of tables and constants.
  'restore/only-rows/plan-only-rows.ts': [
    ...['keyCondition(keys)', 'namePartOf("n.nspname")', 'pathOf(dataOf(table, details))', 'some'],
  ],
  // Conditions of `row-keys.ts`.
  'restore/only-rows/restore-only-rows.ts': ['counted.count', 'keyed.only'],
  // One of a list of types.
  'restore/only-rows/row-keys.ts': ['type'],
  'restore/only-rows/replace-tables.ts': [
    ...['columnList(table.columns)', 'pathOf(table)', 'pathOf(table.root ?? table)'],
  ],
  'restore/only-rows/row-keeper.ts': ['keeperTable(index)', 'list'],
  'restore/only-rows/statements.ts': [
    'allowsCode ? "SELECT NULL AS name WHERE false" : codeOwnersQuery(tables)',
    'changedTables(tables)',
    ...['count', 'counted.join("\\n  ")', 'ownedSequences(tables)', 'pathOf(table)', 'query', 'relationsOf(given)'],
    ...[
      'relationsOf(relations(tables))',
      ...['table.only', 'table.only ? `…` : ""'],
      'tables.map(ArrowFunctionExpression).join(", ")',
      'withAncestors("relations")',
    ],
  ],
  'restore/only-rows/undo-rows.ts': ['keeperTable(index)', 'pathOf(table)'],
  // Words of ours, and names that quoteName has quoted.
  'restore/rows/copy-commands.ts': ['copy', 'name'],
  'restore/rows/load-tables.ts': ['pathOf(dataOf(table, details))'],
  'restore/rows/forced-row-security.ts': ['ALTER_EACH("NO FORCE")', 'how', 'table'],
  // Queries of `rows-by-root.ts`, with names of quoteName.
  'restore/check.ts': ['counts'],
  // A hint for people.
  'restore/failure-hint.ts': ['name', 'schemas'],
  // What readSetting has quoted.
  'swap/alter-set.ts': ['value'],
  // Queries of introspect.ts and of this file; a privilege out of a list of ours.
  'restore/in-place/write-transaction.ts': [
    'LARGE_OBJECTS_QUERY',
    'differences',
    'found',
    'known',
    'objectsQuery(schemas)',
    'wanted',
  ],
  // Queries of ours, and statements that the server has written with quote_ident and format('%I').
  'restore/in-place/carry-over-in-place.ts': [
    ...['lostGrantsQuery(ownership)', 'query', 'queries.map(ArrowFunctionExpression).join("\\n")'],
  ],
  'swap/carry-over.ts': [
    ...['OWNABLE', 'acl', 'defaults', 'grantee("g.grantee")', 'matched', 'objects'],
    ...['grantee("r.rolname")', 'others("a.attacl", "c.relowner")', 'others("f.acl", "f.owner")', 'owner', 'whose'],
    ...['a.attacl', 'd.defaclacl', 'f.acl', 'o.acl'].map((column) => `entriesOf("${column}")`),
    ...['systemObjects(NullLiteral)', 'systemObjects(listed)'],
  ],
  'swap/rights.ts': ['systemObjects(NullLiteral)'],
  // A part of a query of ours, with names of quoteText.
  'restore/difference/set-aside.ts': ['from', 'relationsOf(relations)', 'withAncestors("relations")'],
  // A table of queries of ours.
  'swap/ownable.ts': [
    ...['acl', 'catalog', 'condition ?? changed', 'grant.acl', 'namespace ? `…` : "0::oid"'],
    ...['own', 'owner', 'rank', 'schema', 'where'],
  ],
  'swap/inherit.ts': ['name', 'old.connection_limit', 'privilege'],
  'sanitize/canaries.ts': ['at', 'given.join(", ")', 'list.join(", ")', 'nameOf(column)', 'nameOf(table)'],
  'sanitize/columns.ts': [
    'SAMPLED_ROWS',
    'SAMPLES',
    'SAMPLE_LENGTH',
    ...['hashOf("v")', 'index', 'ofColumn.join(" UNION ALL ")', 'part', 'tableReference(table)', 'text'],
    'values.join(", ")',
  ],
  'sanitize/digests.ts': [
    ...['expressions.join(", ")', 'hash', 'index', 'sampleHashes.join(",")', 'tableReference(ObjectExpression)'],
  ],
  // As in suggestion.ts: names by quote_ident, and expressions of such.
  'sanitize/replacements.ts': ['key', 'name'],
  // Quoted by quote_ident of the server, since a person reads the result.
  'sanitize/suggestion.ts': [
    ...['key.definition', 'key.name', 'key.table', 'name', 'place("own", "a")', 'place("ref", "r")'],
  ],
  // Names of suggestion.ts, and an expression of the user, which splitQuery has found to be in one statement.
  'sanitize/trial.ts': ['name', 'shown(name)', 'shown(sql)', 'some', 'sql', 'table'],
  // The name of one of two functions.
  'server/new-database.ts': ['create', 'provisionalLimit(name)'],
  'server/server.ts': ['by', 'key', 'lockKey(destination)'],
  // Quoted in `qualified`, and operators in operatorText.
  'subset/subset-catalog.ts': [
    ...['columns', 'from', 'fromNamed(relation, byOid)', 'name', 'qualified(part)', 'UNTRUSTED'],
    ...['baseType(types.0)', 'baseType(types.1)', 'comparisonCode(ArrayExpression, ObjectExpression)'],
    'comparisonCode(types, ObjectExpression)',
  ],
  // Columns and queries of subset-catalog.ts.
  'subset/untrusted-code.ts': ['operator.name', 'operator.schema', 'other', 'own', 'type'],
  'subset/copy.ts': ['isOneOf(batch)', 'leaf.from', 'leaf.name', 'leaf.root', 'query'],
  'subset/destination.ts': ['columns.map(nameInSql).join(", ")', 'path'],
  // `where` is a condition of the user's own, which the server reads as a text first.
  'subset/finder.ts': [
    ...['batch.leaf.from', 'condition', 'from', 'isOneOf(batch)', 'keys'],
    ...[
      'names(ArrayExpression)',
      'names(path)',
      'names(reference.refColumns)',
      'query',
      'query(batch)',
      'reference.from',
    ],
    ...['reference.to', 'refers(reference)', 'same', 'table.from', 'table.fromNamed', 'where'],
  ],
  'subset/finish.ts': ['beyond', 'extreme', 'view', 'which'],
  'subset/large-objects.ts': ['INV_READ', 'isOne', 'query', 'tables.get(table.name).fromNamed'],
  'subset/build-subset.ts': [
    'from',
    'index',
    'query',
    'refers(reference)',
    'refersTo(reference, ObjectExpression)',
    'to',
  ],
  'subset/source.ts': ['key.join(", ")', 'leaf.from', 'table.fromNamed'],
};

const MYSQL: Record<string, string[]> = {
  // Literals, names and conditions of quoteText, quoteName and hexadecimal digits; numbers.
  'restore/change-statements.ts': [
    ...['condition', 'keyCondition(before, ObjectExpression)', 'lines.length', 'number', 'path', 'set.join(", ")'],
  ],
  // Numbers and fixed words; a name and clauses that quoteName has quoted.
  'catalog/histograms.ts': ['options'],
  'restore/statistics.ts': ['what'],
  // Conditions of inDatabase; paths of quoted names.
  'restore/only-rows/references.ts': [
    ...['among("REFERENCED_TABLE_NAME")', 'among("TABLE_NAME")', 'from', 'other', 'own', 'to'],
    ...['KEYS_LISTED', 'dangling', 'reference.dangling'],
  ],
  'restore/only-rows/commit-locked.ts': ['locks.join(", ")', 'moved', 'path', 'pending', 'staged'],
  // A message.
  'restore/only-rows/triggers.ts': ['database'],
  'restore/only-rows/replace-rows.ts': ['moved', 'pending'],
  'restore/only-rows/undo-rows.ts': ['from', 'into'],
  // An account of quoteAccount.
  // One SELECT of the user's, from the command line, on a throw-away database.
  'catalog/browse.ts': ['select'],
  'catalog/definitions/code.ts': ['definer'],
  // Words of letters and digits that were parsed.
  'restore/script/accept-statement.ts': ['collation'],
  // Words without quotes (`\\w+`) of a statement of the dump, which runs as a whole otherwise.
  'restore/dump-file/restore-dump.ts': [...['charset', 'clause', 'collation', 'collation === undefined ? "" : `…`']],
  // The same; words of ours; the name of a database, quoted and escaped.
  'restore/temporary-user.ts': ['account', 'rights.inGrant(shadow)', 'some.join(", ")'],
  // Texts of messages.
  'catalog/definitions/check-program.ts': ['kind'],
  'connection/identity.ts': ['prefix.length'],
  // Column names of ours.
  'connection/quote.ts': ['column', 'name'],
  // Columns of the catalog, named in this file; a condition of tablesIn.
  'catalog/introspect.ts': ['ownTables', 'settings'],
  'catalog/definitions/read-definitions.ts': ['bytes.toString("hex")'],
  // Clauses that the server has written, or that check-definitions.ts has read token by token.
  'catalog/definitions/foreign-keys.ts': ['clause'],
  // A clause as the server shows it, and with names of quoteName.
  'catalog/definitions/show-tables.ts': ['from', 'quote(name)', 'table', 'to'],
  'catalog/definitions/sequence-defaults.ts': ['clauses.join(", ")'],
  // A condition of its callers, of tablesIn and inDatabase.
  'catalog/tables.ts': ['column', 'within'],
  'catalog/columns.ts': ['within'],
  'subset/subset-catalog.ts': ['within'],
  'dump/excluded-rows.ts': ['join', 'referencing(columns, quoteName)', 'table'],
  'dump/row-select.ts': ['expressions.join(", ")', 'part', 'where'],
  // Conditions of this file, with names of quoteName and literals of the server's own definitions, cut by the lexer.
  'dump/lossy-values.ts': ['condition', 'counts.join(", ")', 'isOther', 'members.join(", ")'],
  'dump/parts.ts': ['key'],
  // A hint for people: rights, and names that were quoted before.
  'catalog/rights/rights.ts': ['account', 'granted.join(", ")', 'on'],
  // Rights out of a SET column of the server.
  // Results of quotePath, and expressions of quoted columns.
  'branches/copy-rows.ts': ['into', 'source'],
  'branches/row-checksum.ts': ['checksumExpression(table)', 'summed'],
  // Quoted names, and aliases with numbers of the program.
  'branches/in-place/differing-rows.ts': [
    ...['b', 'd', 'other', 'own', 'same', 'sameBytes(b, d)', 'values'],
    ...['checksumExpression(table, b)', 'columns.join(", ")', 'insertOf(table)'],
    ...['sameKey(table, b, d)', 'sameKey(table, b, own)', 'sameValues(table, b, d)', 'sameValues(table, b, own)'],
  ],
  'branches/in-place/reset-in-place.ts': ['allLocks(before).join(", ")'],
  'branches/in-place/unwritten-tables.ts': ['AwaitExpression'],
  // Quoted names, and aliases with numbers of the program.
  'restore/difference/fill-difference.ts': ['BigInt(counter)'],
  'restore/difference/replace-rows.ts': ['at', 'columns', 'distinct', 'isSame'],
  'swap/routine-grants.ts': ['given.join(", ")', 'destination'],
  'restore/rows/load-tables.ts': ['additions', 'conversions.join(", ")', 'fields.join(", ")', 'set'],
  // Results of quotePath.
  'swap/row-exchange.ts': ['from', 'into', 'mine', 'moved', 'pending', 'temporary'],
  // Renames of quoted names; conditions of ours, statements that EXECUTE IMMEDIATE takes as quoted text, and clauses that
  // check-definitions.ts has read token by token.
  'swap/swap-packet.ts': ['clause', 'condition', 'run'],
  'sanitize/canaries.ts': ['at', 'given.join(", ")', 'list.join(", ")', 'table'],
  'sanitize/columns.ts': [
    'SAMPLED_ROWS',
    'SAMPLE_LENGTH',
    'index',
    'textOf(quoteName(column.name), familyOf(column))',
    'values.join(", ")',
  ],
  'sanitize/digests.ts': ['expressions.join(", ")', 'hash', 'index', 'known === "" ? "0" : `…`'],
  'sanitize/replacements.ts': ['name'],
  'sanitize/suggestion.ts': ['key.definition'],
  // Names of suggestion.ts, numbers of ours, and an expression of the user, which splitQuery has found to be in one statement.
  'sanitize/trial.ts': [
    ...['SAMPLE_LENGTH', 'limit', 'name', 'shown(name)', 'shown(sql)', 'some', 'sql', 'table', 'value'],
  ],
  'subset/copy.ts': ['values.join(", ")'],
  'subset/finder.ts': [
    'refers(reference)',
    'distinct',
    'isKey(from.key, "f")',
    'isKey(to.key, "r")',
    'keyOf(from, "f")',
    'keyOf(table, "t")',
    'keyOf(table, quoteName(table.catalog.name))',
    'keyOf(to, "p")',
    'keyTable(from.key, keys)',
    'keyTable(to.key, keys)',
    'path',
    'path(from)',
    'path(to)',
    'same',
    'source',
    'where',
    'value',
  ],
  'subset/keys.ts': ['2 * octets', 'exact', 'key', 'value'],
  'subset/build-subset.ts': ['refers(reference)', 'same'],
  'subset/rows.ts': ['select'],
  'subset/source.ts': [
    'index',
    'isKey(table.key, "t")',
    'keyTable(table.key, ArrayExpression)',
    'part.out("t")',
    'same.join(" AND ")',
    'written',
  ],
};

const READS_WITHOUT_HINT = [
  // A JSON_TABLE of a column.
  'dump/lossy-values.ts: scalars',
  // A temporary table of the session.
  'restore/difference/replace-rows.ts: TOUCHED',
  // The journal's record, in a database that the run has made.
  'restore/only-rows/commit-locked.ts: pending',
  'restore/only-rows/replace-rows.ts: pending',
  // Literals; and what asTable has named before.
  'subset/finder.ts: keyTable(from.key, keys)',
  'subset/finder.ts: keyTable(to.key, keys)',
  'subset/finder.ts: source',
  'subset/source.ts: keyTable(table.key, ArrayExpression)',
  'swap/row-exchange.ts: pending',
];

function listed(reviewed: Record<string, string[]>): string[] {
  return Object.entries(reviewed).flatMap(([file, all]) => all.map((expression) => `${file}: ${expression}`));
}

it.each([
  { engine: 'postgres', reviewed: POSTGRES },
  { engine: 'mysql', reviewed: MYSQL },
  { engine: 'shared', reviewed: {} },
])('SQL for $engine contains only quoted names, quoted literals and reviewed fragments', ({ engine, reviewed }) => {
  const found = unquotedInterpolations(`src/engines/${engine}`);
  const expected = listed(reviewed);
  expect(found.filter((one) => !expected.includes(one))).toEqual([]);
  expect(expected.filter((one) => !found.includes(one))).toEqual([]);
});

it('SQL for mysql names each table that it reads by asTable, which refuses a view in its place', () => {
  expect(readsWithoutHint('src/engines/mysql')).toEqual(READS_WITHOUT_HINT);
});
