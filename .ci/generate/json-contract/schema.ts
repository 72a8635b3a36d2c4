import { toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { branchRow } from '../../../src/results/branch-results.ts';
import { databaseCopy } from '../../../src/results/database-copies.ts';
import { EVENTS } from '../../../src/results/events.ts';
import { number, optional, orNull, text, texts } from '../../../src/results/fields.ts';
import {
  destinationState,
  loadPlan,
  loadResult,
  resetPlan,
  resetResult,
  undoPlan,
} from '../../../src/results/load-results.ts';
import { saveRow, snapshotRow, targetInfo, targetRow } from '../../../src/results/results.ts';
import { coverage } from '../../../src/results/review/sanitize-results.ts';
import { DOCUMENTS } from './documents.ts';
import { RESULTS } from './results.ts';

/** Shapes with a definition of their own in the JSON Schema. */
const NAMED = {
  snapshot: snapshotRow,
  destination: destinationState,
  target: targetRow,
  target_info: targetInfo,
  coverage,
  load_plan: loadPlan,
  load_result: loadResult,
  reset_plan: resetPlan,
  reset_result: resetResult,
  undo_plan: undoPlan,
  save: saveRow,
  database_copy: databaseCopy,
  branch: branchRow,
};

/** An error: the fields of the last event, and of `error` in a document. */
const ERROR = { code: text, message: text, hint: orNull(text), exit: number, details: optional(texts) };

/** Bounds of stored and received values, which are no part of the contract. */
const BOUNDS = ['check', 'regex', 'max_length', 'min_length', 'non_empty', 'min_value', 'max_value', 'safe_integer'];
const FORMATS = ['iso_timestamp', 'uuid'];

/**
 * The JSON Schema of `--json`. The root describes one line of a command that prints events; `$defs` also has the document
 * of each command that prints one, as `document.NAME`.
 */
export function eventsSchema(): object {
  const done = Object.entries(RESULTS).map(([name, results]) => {
    const head = { event: v.literal('done'), command: v.literal(name), duration_ms: number };
    return [`done.${dashed(name)}`, results.map((result) => v.object({ ...head, ...result.entries }))] as const;
  });
  const failed = v.object({ event: v.literal('error'), ...ERROR });
  const events = [
    ...Object.entries(EVENTS).map(([name, event]) => [`event.${name}`, [event]] as const),
    ...done,
    ['event.error', [failed]] as const,
  ];
  const documents = [
    ...Object.entries(DOCUMENTS).map(([name, shapes]) => [`document.${dashed(name)}`, shapes] as const),
    ['document.error', [v.object({ error: v.object(ERROR) })]] as const,
  ];
  const definitions = Object.fromEntries([
    ...Object.entries(NAMED).map(([name, schema]) => [name, json(schema, name)]),
    ...[...events, ...documents].map(([name, shapes]) => [name, anyOf(shapes.map((shape) => json(shape)))]),
  ]);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Output of tool with --json',
    description:
      'One line of a command that prints events. The document of a command that prints one: #/$defs/document.NAME. Readers ignore unknown keys and events.',
    anyOf: events.map(([name]) => ({ $ref: `#/$defs/${name}` })),
    $defs: definitions,
  };
}

function dashed(name: string): string {
  return name.replaceAll(' ', '-');
}

function anyOf(schemas: object[]): object {
  const [only, ...others] = schemas;
  return only && others.length === 0 ? only : { anyOf: schemas };
}

/** With references to the named shapes, except to itself. */
function json(schema: v.GenericSchema, name?: string): object {
  const definitions = Object.fromEntries(Object.entries(NAMED).filter(([other]) => other !== name));
  const ignoreActions = [...BOUNDS, ...FORMATS];
  const { $schema: _, $defs: __, ...made } = toJsonSchema(schema, { typeMode: 'output', definitions, ignoreActions });
  return made;
}
