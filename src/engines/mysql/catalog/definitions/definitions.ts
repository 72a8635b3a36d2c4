import * as v from 'valibot';

/** These values go into SQL unquoted. */
const wordSchema = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_]+$/));

const sqlModeSchema = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_,]*$/));

const timeZoneSchema = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_+:/-]*$/));

/** Rows are loaded before the indexes are built: one sort is faster than many inserts. */
const tableSchema = v.object({
  name: v.string(),
  create: v.string(),
  indexes: v.array(v.array(v.string())),
  foreignKeys: v.array(v.string()),
});

export type TableDefinition = v.InferOutput<typeof tableSchema>;

const codeSchema = <const Kinds extends string[]>(kinds: Kinds) =>
  v.object({
    kind: v.picklist(kinds),
    name: v.string(),
    create: v.string(),
    sql_mode: v.nullable(sqlModeSchema),
    charset: v.nullable(wordSchema),
    collation: v.nullable(wordSchema),
    time_zone: v.nullable(timeZoneSchema),
    /** Base64 of the statement in `charset`, where `create` in UTF-8 would be another statement. */
    bytes: v.optional(v.pipe(v.string(), v.base64())),
    /** Collation of the database at creation: the default for texts in the code. */
    database_collation: v.optional(v.nullable(wordSchema)),
    invalid: v.optional(v.boolean()),
  });

export interface Code extends Omit<v.InferOutput<ReturnType<typeof codeSchema>>, 'kind'> {
  kind: string;
}

const sequenceSchema = v.object({ name: v.string(), create: v.string(), next: v.pipe(v.string(), v.regex(/^-?\d+$/)) });

const collations = { charset: wordSchema, collation: wordSchema };

const programs = {
  routines: v.array(codeSchema(['PROCEDURE', 'FUNCTION', 'PACKAGE', 'PACKAGE BODY'])),
  views: v.array(codeSchema(['VIEW'])),
  triggers: v.array(codeSchema(['TRIGGER'])),
  events: v.array(codeSchema(['EVENT'])),
};

/** Objects to create again when tables move to another database. */
export const codeDefinitionsSchema = v.object({
  ...collations,
  ...programs,
  dangling: v.optional(v.array(v.object({ table: v.string(), name: v.string(), clause: v.string() }))),
  defaults: v.optional(v.array(v.object({ table: v.string(), column: v.string() }))),
});

/** The file `definitions.json`: everything but the rows. */
export const definitionsSchema = v.object({
  ...collations,
  tables: v.array(tableSchema),
  sequences: v.array(sequenceSchema),
  ...programs,
});

type StoredCode = v.InferOutput<typeof codeDefinitionsSchema>;

export interface CodeDefinitions
  extends Omit<StoredCode, keyof typeof programs>,
    Record<keyof typeof programs, Code[]> {}

export interface Definitions extends CodeDefinitions {
  tables: TableDefinition[];
  sequences: v.InferOutput<typeof sequenceSchema>[];
}

/**
 * A foreign key to a missing table, made with `foreign_key_checks = 0`. It stores the name of its database and would
 * not follow its table: it is dropped before the move and created again after it.
 */
export type DanglingKey = NonNullable<StoredCode['dangling']>[number];

/**
 * A MariaDB column with a default from a sequence. The server stores the sequence's database, which a move does not
 * change: the column is defined again after it.
 */
export type SequenceDefault = NonNullable<StoredCode['defaults']>[number];
