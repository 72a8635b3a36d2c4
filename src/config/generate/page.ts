import { markdownTable } from '../../text/markdown-table.ts';
import type { Shape } from '../schema/shape.ts';

export function configurationPage(shape: Shape): string {
  return [INTRODUCTION, ...sections(shape, []), ''].join('\n\n').replace(/\n*$/, '\n');
}

const INTRODUCTION = `# Configuration

<!-- Generated from src/config/schema by src/config/generate/page.ts: npm run generate -->

\`\`\`sh
tool config init    # write a first tool.yml
tool config check   # list its problems
tool config show    # print every value in force with its origin
\`\`\`

The configuration is a YAML file and environment variables, which suffice without a file. The first existing file is read:
the one of \`--config\`, \`./tool.yml\`, \`~/.config/tool/tool.yml\`. [tool.example.yml](../tool.example.yml) shows every key;
\`tool config schema\` prints the JSON Schema for editors.

Without \`authtoken\` the tool works in local mode; with it, in cloud mode with a [hub](hub.md). \`env\` selects its address:
\`/api/v3\` below \`dev_api_url\`, \`staging_api_url\` or \`base_url\`.

\`~\` is the home directory; a relative path starts at the folder of the configuration file. A \`query_file\` is searched there,
in the current folder and in \`working_directory\`.

## Trust

A \`tool.yml\` in the current folder may have another author, as in a cloned repository. The program asks before it uses it,
and shows its effects: databases that it reads, replaces and permits to replace, storage and its encryption, addresses, variables, files,
images, programs, SQL, trusted keys, and all other values. Before the answer it connects to nothing and reads only the variables
\`TOOL_TRUST\` and \`TOOL_SECRET_KEY\`.

It does not ask about a file of \`--config\`, about \`~/.config/tool/tool.yml\`, about a file without effects, or under
\`CI=true\`. \`tool trust\` only asks. \`tool config check\` checks an untrusted file without using it.

The answer is stored in \`~/.config/tool/trusted.json\`, with path, effects without passwords, and a SHA-256 of the
configuration and its query files. Every change requires a new answer, except comments, order, default values, \`theme\`,
\`notify\`, \`keys\` and a target's \`name\`. Changes by the program itself keep a trusted file trusted.

Without a terminal the exit code is 5 (\`configuration_untrusted\`). \`--trust\` answers yes and is remembered; \`TOOL_TRUST\` is
for one run: the hash in the error, the path of the file, or \`true\`. \`--yes\` does not answer this question.

## Variables

A variable takes precedence over the file. Its name is \`TOOL_\` and the key in upper case, with \`__\` for each dot:
\`TOOL_DEFAULTS__CPUS\` is \`defaults.cpus\`. Names in maps match without regard to case, and \`-\` equals \`_\`:
\`TOOL_TARGETS__MY_APP__CPUS\` is for the target \`my-app\`, or creates \`my_app\`.

Lists are separated by commas, or YAML in brackets; maps are YAML in braces. An empty variable counts as not set. Keys of
list items have no variable. \`TOOL_NO_CONFIRM=true\` is no key: it answers every question with yes.

## Templates

A URL marked "template" below may contain Go templates, quoted for YAML:

\`\`\`yaml
src_url: "postgres://app:{{\`APP_PASSWORD\` | env}}@db.example.com:5432/app"
\`\`\`

- \`\`{{\`NAME\` | env}}\`\`, \`{{"NAME" | env}}\` and \`{{env "NAME"}}\` insert a variable; an unset one fails operations with the URL.
- \`\`{{\`text\`}}\`\`, \`{{"text"}}\` and \`{{TEXT}}\` insert the text itself. \`{{-\` and \`-}}\` remove blanks on their side.
- A value that is valid in its part of the URL is inserted unchanged; any other is percent-encoded as a whole, so a password may
  contain \`@ : / ? # %\`. A template for the whole URL, or from the scheme on, is not changed.

## Secrets

Any text may be encrypted, in the file, in variables, and in a part of a URL: \`postgres://app:$aes$…@db/app\`. It may contain
a template, and a template's value may be encrypted. The form is \`$aes$\` and the hexadecimal nonce (12 bytes), ciphertext and
tag (16 bytes) of AES-256-GCM, with the 32 characters of \`secret_key\` as the key.

\`tool config encrypt\` encrypts all plain values marked "secret" below and passwords of URLs; \`tool config encrypt KEY\` any
one; \`tool config decrypt KEY\` prints one. Edits by the program keep comments, order, quotes, anchors, line endings and
concurrent changes, or are refused.

The \`secret_key\` is in the file, in \`TOOL_SECRET_KEY\`, or in the system's keychain: \`tool config init --keychain\` stores it
as the password of the service \`tool\` for the path of the file, and writes \`secret_key: keychain\`. Without a keychain there is
a warning, and the key is in the file. File and key together reveal all secrets: keep them apart.

## Log and history

With \`debug: true\` or \`--debug\`, external commands are printed to standard error with exit code and time, and steps,
commands, warnings and errors logged to \`logs/tool.log\` below the working directory. \`trace: true\` adds all other events
and the tool's SQL statements. Passwords and keys are masked. Several runs may log at once. Logs rotate at 5 MB, up to
\`tool.log.4\`. A log that cannot be written is a warning.

Each build, load, reset, transfer and change of branches adds a line to \`history.jsonl\` in the working directory: time,
target, snapshot, source, destination, duration and outcome (mode 0600, URLs without passwords, errors as codes).
\`tool history\` and \`h\` in the screens list them. The file rotates at 1 MB, to \`history.jsonl.1\`.`;

function sections(shape: Shape, path: string[]): string[] {
  const inner = innerOf(shape);
  if (inner.kind !== 'object' || path.join('.') === 'keys') return [];
  const rows = [...inner.keys].map(([key, child]) => row([...path, key], child));
  return [
    `## ${path.length === 0 ? 'Keys of the top level' : `\`${path.join('.')}\``}`,
    ...(shape.description === '' || path.length === 0 ? [] : [shape.description]),
    markdownTable([['key', 'type', 'default', 'meaning'], ...rows]),
    ...[...inner.keys].flatMap(([key, child]) => sections(child, [...path, placeholder(key, child)])),
  ];
}

function innerOf(shape: Shape): Shape {
  return shape.kind === 'map' || shape.kind === 'list' ? shape.of : shape;
}

function placeholder(key: string, { kind }: Shape): string {
  if (kind === 'map') return `${key}.<name>`;
  return kind === 'list' ? `${key}[]` : key;
}

function row(path: string[], shape: Shape): string[] {
  const { description, traits, required } = shape;
  const hasOwnSection = innerOf(shape).kind === 'object';
  const marks = [traits.template ? 'template' : '', traits.secret ? 'secret' : ''].filter((mark) => mark !== '');
  const meaning = hasOwnSection && path.at(-1) !== 'keys' ? 'See below.' : description;
  return [
    `\`${path.at(-1)}\``,
    typeText(shape),
    required ? 'required' : shape.kind === 'value' && shape.default !== undefined ? `\`${shape.default}\`` : '',
    [meaning, ...(marks.length > 0 ? [`(${marks.join(', ')})`] : [])].join(' ').replaceAll('|', '\\|'),
  ];
}

function typeText(shape: Shape): string {
  if (shape.kind === 'object') return 'map';
  if (shape.kind === 'map') return 'map by name';
  if (shape.kind === 'list') return shape.of.kind === 'value' ? `list of ${typeText(shape.of)}` : 'list of maps';
  if (shape.choices.length > 0) return shape.choices.map((choice) => `\`${choice}\``).join(', ');
  return shape.traits.unit && shape.type !== 'text' ? `${shape.type}, ${shape.traits.unit}` : shape.type;
}
