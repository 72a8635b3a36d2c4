import { readFileSync } from 'node:fs';
import { OTHER_DOCUMENTS } from '../../../.ci/generate/json-contract/documents.ts';
import { COMMANDS } from '../../../src/commands/registry.ts';

interface Schema {
  $ref?: string;
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: Schema;
}

const contract: Schema & { $defs: Record<string, Schema> } = JSON.parse(
  readFileSync(new URL('../../../assets/events.schema.json', import.meta.url), 'utf8'),
);

/** Names of properties are always text. */
const KEYWORDS = [
  ...['$ref', 'type', 'const', 'enum', 'anyOf', 'properties', 'required', 'items', 'additionalProperties'],
  ...['propertyNames', 'description'],
];

/** Throws for output of a command with `--json` that assets/events.schema.json does not describe to the last key. */
export function assertDocumented(words: string[], stdout: string): void {
  if (!words.includes('--json') || stdout === '') return;
  const command = COMMANDS.find(({ name }) => name.split(' ').every((word, index) => words[index] === word));
  if (!command || words.includes('--help') || words.includes('--csv') || OTHER_DOCUMENTS.includes(command.name)) return;
  const problems =
    command.json === 'events'
      ? stdout.trimEnd().split('\n').flatMap(eventProblems)
      : documentProblems(command.name, JSON.parse(stdout));
  if (problems.length > 0) throw new Error(`tool ${words.join(' ')}: not in assets/events.schema.json: ${problems[0]}`);
}

/** The problems of one line. */
export function eventProblems(line: string): string[] {
  const value: { event?: string; command?: string; error?: unknown } = JSON.parse(line);
  if (value.error !== undefined) return documentProblems('error', value);
  const name =
    value.event === 'done' ? `done.${value.command?.replaceAll(' ', '-')}` : `event.${value.event ?? 'without a name'}`;
  return namedProblems(name, value);
}

function documentProblems(name: string, value: object): string[] {
  return namedProblems(
    `document.${'error' in value && Object.keys(value).length === 1 ? 'error' : name.replaceAll(' ', '-')}`,
    value,
  );
}

function namedProblems(name: string, value: unknown): string[] {
  const schema = contract.$defs[name];
  return schema ? problemsOf(schema, value, name) : [`there is no ${name}`];
}

/** Stricter than the published schema, which lets a later version add keys: unknown keys are problems. */
function problemsOf(schema: Schema, value: unknown, path: string): string[] {
  const unknown = Object.keys(schema).filter((keyword) => !KEYWORDS.includes(keyword));
  if (unknown.length > 0) throw new Error(`The test knows nothing of the keyword ${unknown.join(', ')}`);
  if (schema.$ref !== undefined) return problemsOf(referenced(schema.$ref), value, path);
  if (schema.anyOf) {
    const attempts = schema.anyOf.map((choice) => problemsOf(choice, value, path));
    return attempts.sort((a, b) => a.length - b.length)[0] ?? [];
  }
  const wanted = schema.type;
  if (wanted !== undefined && typeOf(value) !== wanted) return [`${path} is ${JSON.stringify(value)}, no ${wanted}`];
  if ('const' in schema && value !== schema.const) return [`${path} is not ${JSON.stringify(schema.const)}`];
  if (schema.enum && !schema.enum.includes(value)) return [`${path} is ${JSON.stringify(value)}, no value of the list`];
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => problemsOf(schema.items ?? {}, item, `${path}[${index}]`));
  }
  return wanted === 'object' ? objectProblems(schema, value as Record<string, unknown>, path) : [];
}

function objectProblems(schema: Schema, value: Record<string, unknown>, path: string): string[] {
  const { properties = {}, required = [], additionalProperties } = schema;
  return [
    ...required.filter((key) => !(key in value)).map((key) => `${path}.${key} is absent`),
    ...Object.entries(value).flatMap(([key, inner]) => {
      const known = properties[key] ?? additionalProperties;
      return known ? problemsOf(known, inner, `${path}.${key}`) : [`${path}.${key} is unknown`];
    }),
  ];
}

function referenced(reference: string): Schema {
  const schema = contract.$defs[reference.replace('#/$defs/', '')];
  if (!schema) throw new Error(`There is no ${reference}`);
  return schema;
}

function typeOf(value: unknown): string {
  return Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
}
