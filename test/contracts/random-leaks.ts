import { join } from 'node:path';
import { expect } from 'vitest';
import { build } from '../../src/operations/build/build.ts';
import { applySanitize, planSanitize } from '../../src/operations/sanitize/sanitize.ts';
import { localRepository } from '../../src/operations/snapshots/local-repository.ts';
import { findSnapshot } from '../../src/operations/snapshots/snapshots.ts';
import {
  filesOfTable,
  type Manifest,
  type ManifestFile,
  manifestText,
} from '../../src/repository/manifest/manifest.ts';
import { createObjectPool } from '../../src/repository/objects/object-pool.ts';
import type { Coverage } from '../../src/results/review/sanitize-results.ts';
import type { Context } from '../../src/runtime/context.ts';
import { UserError } from '../../src/runtime/errors.ts';
import { splitName } from '../../src/text/table-names.ts';
import type { AnyServer } from '../helpers/databases/any-server.ts';
import { testContext } from '../helpers/postgres/postgres-server.ts';
import type { Round } from '../helpers/trials.ts';

const ROWS = 30;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

interface PlantedValue {
  column: string;
  /** The personal part of the value of each row. */
  secrets: string[];
  values: string[];
}

/** Values as people have them; none is a part of another. */
function plant({ random, oneOf }: Round): PlantedValue[] {
  const word = (letters: number): string => Array.from({ length: letters }, () => oneOf([...LETTERS])).join('');
  const digits = (count: number): string => Array.from({ length: count }, () => Math.floor(random() * 10)).join('');
  const accent = (): string => oneOf(['', '', 'é', 'ß', 'Ж', 'ø']);
  const makers: Record<string, () => { secret: string; value?: string }> = {
    email: () => ({ secret: `${word(5)}.${word(6)}@${word(5)}.example.org` }),
    full_name: () => ({ secret: `Anna ${word(7)}${accent()} von ${word(9)}` }),
    phone: () => ({ secret: `+49 30 ${digits(9)}` }),
    iban: () => ({ secret: `DE${digits(20)}` }),
    street: () => ({ secret: `${1 + Math.floor(random() * 99)} ${word(9)}${accent()} Street, ${word(8)}` }),
    api_key: () => ({ secret: `sk_live_${word(6)}${digits(6)}${word(6)}` }),
    notes: () => {
      const secret = `${word(8)}@${word(6)}.example.org`;
      return { secret, value: `she wrote from ${secret}, twice\tand left` };
    },
    payload: () => {
      const secret = `${word(7)}${accent()}.${word(5)}@${word(5)}.example.org`;
      return { secret, value: JSON.stringify({ order: Math.floor(random() * 1000), contact: { mail: secret } }) };
    },
  };
  return Object.entries(makers)
    .filter(([column]) => column === 'email' || random() < 0.5)
    .map(([column, make]) => {
      const made = Array.from({ length: ROWS }, make);
      return {
        column,
        secrets: made.map(({ secret }) => secret),
        values: made.map(({ secret, value = secret }) => value),
      };
    });
}

function quoted(text: string, server: AnyServer): string {
  const escaped = server.kind === 'postgres' ? text : text.replaceAll('\\', '\\\\');
  return `'${escaped.replaceAll("'", "''")}'`;
}

/** Statements that move values, of which a query has a few. */
function moves({ oneOf, random }: Round, planted: PlantedValue[], server: AnyServer): string[] {
  const { column, secrets } = oneOf(planted);
  const secret = oneOf(secrets);
  const row = Math.floor(random() * ROWS);
  const value = `(SELECT ${column} FROM person WHERE id = ${row})`;
  const document =
    server.kind === 'postgres'
      ? `json_build_object('old', json_build_array(${value}, 1))::text`
      : `JSON_OBJECT('old', JSON_ARRAY(${value}, 1))`;
  return [
    `CREATE TABLE copied AS SELECT id, ${column} AS a FROM person WHERE id >= ${row}`,
    `UPDATE spare SET kept = ${value} WHERE id = 1`,
    `UPDATE spare SET kept = concat('before: ', ${value}, '; after') WHERE id = 1`,
    `UPDATE spare SET kept = upper(${value}) WHERE id = 2`,
    `UPDATE spare SET document = ${document} WHERE id = 1`,
    `INSERT INTO history SELECT id, ${column} FROM person WHERE id < ${row}`,
    `CREATE VIEW constant AS SELECT ${quoted(secret, server)} AS a`,
    ...(server.kind === 'postgres'
      ? [
          `UPDATE spare SET raw = convert_to(${value}, 'UTF8') WHERE id = 1`,
          `UPDATE spare SET many = ARRAY['x', ${value}] WHERE id = 2`,
          `SELECT lo_from_bytea(0, convert_to(concat('to ', ${value}), 'UTF8'))`,
          `COMMENT ON TABLE spare IS ${quoted(`ask ${secret}`, server)}`,
          `ALTER TABLE spare ADD COLUMN standard text DEFAULT ${quoted(secret, server)}`,
          `CREATE FUNCTION constant_of() RETURNS text LANGUAGE sql AS $f$ SELECT ${quoted(secret, server)}::text $f$`,
        ]
      : [
          `UPDATE spare SET raw = ${value} WHERE id = 1`,
          `ALTER TABLE spare COMMENT = ${quoted(`ask ${secret}`, server)}`,
          `ALTER TABLE spare ADD COLUMN standard varchar(200) DEFAULT ${quoted(secret, server)}`,
        ]),
  ];
}

function trigger({ kind }: AnyServer, column: string): string[] {
  if (kind !== 'postgres') {
    return [
      `CREATE TRIGGER audit AFTER UPDATE ON person FOR EACH ROW INSERT INTO history VALUES (OLD.id, OLD.${column})`,
    ];
  }
  return [
    `CREATE FUNCTION note_old() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO history VALUES (OLD.id, OLD.${column}); RETURN NEW; END $$`,
    'CREATE TRIGGER audit AFTER UPDATE ON person FOR EACH ROW EXECUTE FUNCTION note_old()',
  ];
}

/**
 * A random database, and a random query that masks most of it and moves values elsewhere: every byte of the result is
 * searched for every original value, and what is found must be a finding.
 */
export async function checkRandomLeaks(
  { server, folder }: { server: AnyServer; folder: string },
  round: Round,
): Promise<void> {
  const { random, oneOf } = round;
  const planted = plant(round);
  const [source, clean] = [`leaks_${round.number}`, `leaks_${round.number}_clean`];
  const isPostgres = server.kind === 'postgres';
  const rows = Array.from(
    { length: ROWS },
    (_, id) => `(${[id, ...planted.map(({ values }) => quoted(values[id] ?? '', server))].join(', ')})`,
  );
  const columns = planted.map(({ column }) => `${column} varchar(400)`).join(', ');
  const possible = moves(round, planted, server);
  const moved = possible.filter(() => random() < 1.2 / possible.length);
  const left = random() < 0.2 ? oneOf(planted).column : null;
  const masks = planted
    .filter(({ column }) => column !== left)
    .map(({ column }) => `UPDATE person SET ${column} = ${oneOf(["concat('masked ', id)", 'NULL', "'x'"])}`);
  const query = [...moved, ...masks].join(';\n') || 'SELECT 1';
  await server.create(source);
  try {
    await server.run(source, [
      `CREATE TABLE person (id integer PRIMARY KEY, ${columns})`,
      `INSERT INTO person VALUES ${rows.join(', ')}`,
      'CREATE TABLE history (id integer, was varchar(400))',
      ...(random() < 0.5 ? ["INSERT INTO history VALUES (1, 'nothing of anybody'), (2, NULL)"] : []),
      `CREATE TABLE spare (id integer PRIMARY KEY, kept varchar(800), document varchar(2000), raw ${isPostgres ? 'bytea, many text[]' : 'blob'})`,
      'INSERT INTO spare (id) VALUES (1), (2), (3)',
      'CREATE TABLE words (id integer PRIMARY KEY, label varchar(40))',
      "INSERT INTO words VALUES (1, 'Anna'), (2, 'Street'), (3, 'von'), (4, '49'), (5, 'masked 7')",
      ...(random() < 0.3 ? trigger(server, oneOf(planted).column) : []),
    ]);
    const target = {
      snapshot: { src_url: server.url(source) },
      sanitize: { dst_url: server.url(clean), override_query: query },
    };
    const context = testContext({ settings: { working_directory: join(folder, source), targets: { app: target } } });
    await build(context, { target: 'app', cpus: 1 });
    const sanitize = async () => applySanitize(context, await planSanitize(context, { target: 'app', cpus: 1 }));
    const result = await sanitize().catch((error) => {
      // A query that the server refuses proves nothing, and publishes nothing.
      if (error instanceof UserError && error.code === 'query_failed') return null;
      throw error;
    });
    if (result === null) return;
    const { manifest } = await findSnapshot(context, { target: 'app', snapshot: result.snapshot.id });
    const secrets = planted.flatMap((each) => each.secrets);
    const found = await searchEveryByte(context, manifest, secrets);
    expect(
      [...found].filter((place) => !isFinding(result.coverage, place)),
      `${query}\nleft without a finding`,
    ).toEqual([]);
    if (found.size === 0) expect(result.coverage.findings, `${query}\nnothing is left`).toEqual([]);
  } finally {
    for (const name of await server.databases()) if (name.startsWith(source)) await server.drop(name);
  }
}

/** `column: …`, `large object`, `definition` or `manifest`. */
function isFinding({ findings }: Coverage, place: string): boolean {
  const columns = findings.map(({ column }) => column);
  if (place === 'large object') return columns.includes('pg_catalog.pg_largeobject.data');
  if (place === 'definition') return columns.some((column) => column.endsWith(')'));
  return columns.includes(place);
}

/** Finds values of the original in the result, by plain comparison of texts. */
async function searchEveryByte(context: Context, manifest: Manifest, secrets: string[]): Promise<Set<string>> {
  await using pool = createObjectPool(1);
  const contentOf = async (file: ManifestFile): Promise<string> => {
    const parts: Uint8Array[] = [];
    for await (const part of pool.read(localRepository(context).object(file))) parts.push(part.slice());
    return Buffer.concat(parts).toString('utf8');
  };
  const holds = (content: string): boolean => {
    const plain = content
      .replaceAll(/\\\\x((?:[0-9a-f]{2})+)/g, (_, digits: string) => Buffer.from(digits, 'hex').toString())
      .replaceAll(/\\+u([0-9a-f]{4})/gi, (_, unit: string) => String.fromCharCode(Number.parseInt(unit, 16)))
      .toLowerCase();
    return secrets.some((secret) => plain.includes(secret.toLowerCase()));
  };
  const found = new Set<string>();
  const data = manifest.details.data as Record<string, { columns: string[] }>;
  for (const table of manifest.tables) {
    const columns = data[table.file.name]?.columns ?? [];
    const { schema, rest } = splitName(table.name);
    const fields = (await Promise.all(filesOfTable(table).map(contentOf)))
      .join('')
      .split('\n')
      .map((line) => line.split('\t'));
    for (const [at, column] of columns.entries()) {
      if (fields.some((row) => holds(row[at] ?? ''))) found.add(`${schema}.${rest}.${column}`);
    }
  }
  for (const file of manifest.files) {
    const isDefinition = file.name === 'toc.dat' || file.name === 'definitions.json';
    if (holds(await contentOf(file))) found.add(isDefinition ? 'definition' : 'large object');
  }
  if (holds(manifestText(manifest))) found.add('manifest');
  return found;
}
