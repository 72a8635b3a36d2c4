import * as v from 'valibot';
import { key, optionalKey } from './key.ts';
import { path, text } from './values.ts';

/** A timer holds 24 days. */
const MOST_SECONDS = 7 * 24 * 3600;

const stepSchema = v.strictObject({
  command: optionalKey(
    v.union([text, v.pipe(v.array(text), v.nonEmpty('must not be empty'))]),
    'Program with its arguments as a list, or one line for the shell.',
    { example: ['npm', 'run', 'migrate'], effect: 'runs_command' },
  ),
  query_file: optionalKey(path, 'SQL file, instead of command.', {
    example: './after-load.sql',
    effect: 'runs_file',
  }),
  timeout: v.optional(
    key(
      v.pipe(
        v.number(),
        v.gtValue(0, 'must be more than 0'),
        v.maxValue(MOST_SECONDS, `must be at most ${MOST_SECONDS}, a week`),
      ),
      'Longest duration of the step.',
      { unit: 'seconds' },
    ),
    1800,
  ),
});

export type AfterLoadStep = v.InferOutput<typeof stepSchema>;

export const afterLoad = optionalKey(
  v.array(stepSchema),
  'Steps in the shadow database of a load before it replaces the destination, such as migrations.',
  { fileOnly: true },
);
