import { toJsonSchema } from '@valibot/to-json-schema';
import { settingsSchema } from '../../../src/config/schema/settings.ts';
import { shapeOf } from '../../../src/config/schema/shape.ts';
import { exampleConfiguration } from './example.ts';
import { configurationPage } from './page.ts';

/** `page` is the text of docs/configuration.md. */
export function generatedFiles(page: string): { path: string; content: string }[] {
  const shape = shapeOf(settingsSchema);
  return [
    { path: 'tool.example.yml', content: exampleConfiguration(shape) },
    { path: 'assets/tool.schema.json', content: `${JSON.stringify(editorSchema(), null, 2)}\n` },
    { path: 'docs/configuration.md', content: configurationPage(shape, page) },
  ];
}

/** The JSON Schema for editors. It omits checks that only the program can do. */
function editorSchema(): object {
  const { required, ...schema } = toJsonSchema(settingsSchema, {
    typeMode: 'input',
    ignoreActions: ['check', 'metadata'],
    overrideAction: ({ valibotAction, jsonSchema }) => replaceAction(valibotAction as unknown as Action, jsonSchema),
  });
  // Required keys of the top level may come from a variable.
  return { ...schema, title: 'Configuration of tool' };
}

type Action = { type: 'regex'; requirement: RegExp } | { type: 'examples'; examples: unknown[] };

function replaceAction(action: Action, schema: object): object | undefined {
  // Patterns of JSON Schema are always in Unicode mode.
  if (action.type === 'regex') return { ...schema, pattern: action.requirement.source };
  if (action.type === 'examples') return { ...schema, examples: action.examples };
  return undefined;
}
