import { settingsSchema } from '../schema/settings.ts';
import { type Shape, shapeOf } from '../schema/shape.ts';
import { IN_KEYCHAIN } from '../secrets/keychain.ts';
import { isTree, type Tree } from '../tree.ts';
import { writeScalar } from '../yaml/yaml-text.ts';

export interface InitialValues {
  /** Or the word `keychain`. */
  secretKey: string;
  schemaUrl: string;
  sections?: Tree;
}

export function initialConfiguration({ secretKey, schemaUrl, sections }: InitialValues): string {
  if (sections) return briefConfiguration({ secretKey, schemaUrl }, sections);
  const shape = shapeOf(settingsSchema);
  const keys = shape.kind === 'object' ? [...shape.keys] : [];
  return [
    // Editors split the line at spaces, so that a path would break.
    `# yaml-language-server: $schema=${schemaUrl}`,
    '#',
    '# Configuration of tool. All keys: docs/configuration.md and tool.example.yml. Check it with: tool config check',
    '',
    '# Encrypts what is sensitive in here. Keep it: nothing else opens what it has encrypted.',
    ...(secretKey === IN_KEYCHAIN
      ? [
          "# The system's keychain holds it, as the password of the service tool for the path of this file.",
          'secret_key: keychain',
        ]
      : [`secret_key: "${secretKey}"`]),
    '',
    ...keys.flatMap(([key, child]) => defaultLines(key, child)),
    EXAMPLE_TARGET,
  ].join('\n');
}

/** Returns a configuration with the answers, without the keys that have their defaults. */
function briefConfiguration({ secretKey, schemaUrl }: InitialValues, sections: Tree): string {
  return [
    `# yaml-language-server: $schema=${schemaUrl}`,
    '# All keys: docs/configuration.md. Keep secret_key: nothing else opens what it has encrypted.',
    `secret_key: "${secretKey}"`,
    writeTree(sections, 0),
  ].join('\n');
}

function defaultLines(key: string, shape: Shape): string[] {
  if (shape.kind !== 'value' || shape.default === undefined) return [];
  return [`# ${shape.description}`, `${key}: ${writeScalar(shape.default)}`, ''];
}

function writeTree(tree: Tree, depth: number): string {
  const indent = '  '.repeat(depth);
  return Object.entries(tree)
    .map(([key, value]) => {
      const name = indent + writeScalar(key);
      return isTree(value) ? `${name}:\n${writeTree(value, depth + 1)}` : `${name}: ${writeScalar(value)}\n`;
    })
    .join('');
}

const EXAMPLE_TARGET = `# A target names a database to take snapshots of, and one to load them into.
# targets:
#   app:
#     snapshot:
#       src_url: "postgres://app:{{\`APP_PASSWORD\` | env}}@db.example.com:5432/app"
#       dst_url: postgres://localhost:5432/app_copy
`;
