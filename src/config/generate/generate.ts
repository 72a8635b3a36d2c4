import { toJsonSchema } from '@valibot/to-json-schema';
import { settingsSchema } from '../schema/settings.ts';
import { shapeOf } from '../schema/shape.ts';
import { exampleConfiguration } from './example.ts';
import { configurationPage } from './page.ts';

/** What is derived from the schema for people and editors; a check fails when one of the files is stale. */
export function generatedFiles(): { path: string; content: string }[] {
  const shape = shapeOf(settingsSchema);
  return [
    { path: 'tool.example.yml', content: exampleConfiguration(shape) },
    { path: 'assets/tool.schema.json', content: `${JSON.stringify(editorSchema(), null, 2)}\n` },
    { path: 'docs/configuration.md', content: configurationPage(shape) },
  ];
}

/** The JSON Schema that editors complete and validate with. What only the program can check is left to it. */
function editorSchema(): object {
  const { required, ...schema } = toJsonSchema(settingsSchema, {
    typeMode: 'input',
    ignoreActions: ['check', 'metadata'],
    overrideAction: ({ valibotAction, jsonSchema }) => replaceAction(valibotAction as unknown as Action, jsonSchema),
  });
  // What the whole configuration needs may come from a variable; a file that leaves it out is fine.
  return { ...schema, title: 'Configuration of tool' };
}

type Action = { type: 'regex'; requirement: RegExp } | { type: 'examples'; examples: unknown[] };

function replaceAction(action: Action, schema: object): object | undefined {
  // Patterns of JSON Schema are in Unicode mode by themselves, so that flag says nothing.
  if (action.type === 'regex') return { ...schema, pattern: action.requirement.source };
  // The key's own example takes the place of the one that its type has.
  if (action.type === 'examples') return { ...schema, examples: action.examples };
  return undefined;
}
