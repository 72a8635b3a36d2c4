import { expectTypeOf, test } from 'vitest';
import type { CommandSpec, InvocationOf } from '../../src/cli/command.ts';

const specification = {
  name: 'work',
  summary: 'work',
  group: 'Test',
  arguments: [
    { name: 'target', description: '', required: true },
    { name: 'keys', description: '', required: false, variadic: true },
  ],
  options: [
    { flags: '--in-place', description: '' },
    { flags: '--no-undo', description: '' },
    { flags: '--spare', description: '' },
    { flags: '--no-spare', description: '' },
    { flags: '-o, --output <file>', description: '' },
    { flags: '--tables <names>', description: '', repeatable: true },
    { flags: '--keep-last <n>', description: '', value: 'count' },
  ],
  examples: [],
  json: 'document',
} as const satisfies CommandSpec;

type Given = InvocationOf<typeof specification>;

test('the arguments of a run follow from the specification', () => {
  expectTypeOf<Given['arguments']>().branded.toEqualTypeOf<{ target: string; keys?: string[] }>();
});

test('the options of a run follow from the flags', () => {
  expectTypeOf<Given['options']>().branded.toEqualTypeOf<{
    inPlace?: boolean;
    undo: boolean;
    spare?: boolean;
    output?: string;
    tables?: string[];
    keepLast?: number;
  }>();
});
