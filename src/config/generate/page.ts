import { markdownTable } from '../../text/markdown-table.ts';
import { variableName } from '../environment.ts';
import type { Shape } from '../schema/shape.ts';

export function configurationPage(shape: Shape): string {
  return [INTRODUCTION, ...sections(shape, []), ''].join('\n\n').replace(/\n*$/, '\n');
}

const INTRODUCTION = `# Configuration

<!-- Generated from src/config/schema by src/config/generate/page.ts: npm run generate -->

A YAML file and environment variables. The first existing file is read: the one of \`--config\`, \`./tool.yml\`,
\`~/.config/tool/tool.yml\`. A file is not required when the variables are sufficient. \`tool config init\` creates one with
questions in a terminal, and with defaults elsewhere; \`tool config check\` lists all problems; \`tool config show\` lists every
value in force with its origin; \`tool config schema\` prints the JSON Schema for editors.
[tool.example.yml](../tool.example.yml) shows every key.

Without \`authtoken\` the tool works in local mode: this file, this machine. With it, in cloud mode; \`tool targets\` shows
which. \`env\` selects the cloud's API: \`/api/v3\` below \`dev_api_url\`, \`staging_api_url\` or \`base_url\`. The last two have
no default, and are required only for the cloud.

## Trust

A \`tool.yml\` in the current folder may have another author, as in a cloned repository. The program asks before it uses such a
file, and shows its effects: databases that it reads and replaces (with role and relevant parameters), loads that it allows over
sources, storage and whether it is encrypted, addresses, variables, files, images, programs, SQL, trusted keys, and every other
value that is set. Before the answer it connects to nothing and reads no variables except \`TOOL_TRUST\` and \`TOOL_SECRET_KEY\`. It
does not ask about a file of \`--config\`, about \`~/.config/tool/tool.yml\`, about a file without any effect, and under \`CI=true\`.

\`tool trust\` asks without doing anything else. \`tool config check\` does not ask: it checks syntax, keys and values of an
untrusted file without using anything of it.

The answer is stored in \`~/.config/tool/trusted.json\`, with the path of the file, its effects without passwords, and a SHA-256 of
the whole configuration and of the content of its query files. Every change requires a new answer, which shows the effects that are
new and those that are gone, except changes of comments, order of keys, values equal to their default, and these keys: \`theme\`, \`notify\`,
\`keys\` and the \`name\` of a target. Changes by the program itself (editor, \`config encrypt\`, sign-in) keep a trusted file
trusted. Without a terminal the exit code is 5 (\`configuration_untrusted\`);
\`--trust\` answers yes and is remembered, \`TOOL_TRUST\` is for one run: the hash in the error, the path of the file, or
\`true\` for any file. \`--yes\` does not answer this question. Tests:
\`test/hostile/current-folder-configuration.test.ts\`, \`trusted-file-changes.test.ts\` and \`trust-keys.test.ts\`

## Variables

A variable takes precedence over the file. Its name is \`TOOL_\` and the key in upper case, with \`__\` for each dot. Names in maps
match without regard to case, \`-\` equals \`_\`: \`TOOL_TARGETS__MY_APP__CPUS\` is \`targets.my-app.cpus\` if there is a target
\`my-app\`, and otherwise creates one named \`my_app\`. Lists are separated by commas, or YAML in brackets; maps are YAML in
braces. An empty variable counts as not set. \`TOOL_NO_CONFIRM=true\` is not a key: it answers every question with yes.

## Templates

A URL with "template" in a table below may contain Go templates, quoted for YAML:

\`\`\`yaml
src_url: "postgres://app:{{\`APP_PASSWORD\` | env}}@db.example.com:5432/app"
\`\`\`

- \`\`{{\`NAME\` | env}}\`\`, \`{{"NAME" | env}}\` and \`{{env "NAME"}}\` insert a variable; an unset one is an error for operations
  that use the URL.
- \`\`{{\`text\`}}\`\`, \`{{"text"}}\` and \`{{TEXT}}\` insert the text itself. \`{{-\` and \`-}}\` remove the blanks on their side.

A value that is valid in its part of the URL is inserted unchanged, so it may be percent-encoded. A value with any invalid
character is encoded as a whole, so a password may contain \`@ : / ? # %\`. A template for the whole URL, or for everything from
the scheme on, is URL text and not changed.

## Secrets

Any text may be encrypted, in the file and in variables, and in a URL a part of it: \`postgres://app:$aes$…@db/app\`. It is
decrypted first, so it may contain a template, and the value of a template may be encrypted too; in a URL it is encoded like the
value of a template. An encrypted value is \`$aes$\` and the hexadecimal nonce (12 bytes), ciphertext and tag (16 bytes) of
AES-256-GCM, with the 32 characters of \`secret_key\` as the key.

\`tool config encrypt\` encrypts all plain values of the file that are marked "Secret" below, and the passwords of URLs;
\`tool config encrypt KEY\` a single one, marked or not; \`tool config decrypt KEY\` prints one. The program changes values in
place: comments, order, quotes, anchors and line endings are kept, and so are concurrent changes. An edit that cannot keep them is
refused.

The \`secret_key\` is in the file, in \`TOOL_SECRET_KEY\`, or in the system's keychain: \`tool config init --keychain\` stores it
there, as the password of the service \`tool\` for the absolute path of the file, and writes \`secret_key: keychain\`. Without a
keychain there is a warning, and the key is in the file. The file and its key together reveal all secrets, so keep the two apart;
values that come from variables only (see Templates) are in no file.

## Log

With \`debug: true\` or \`--debug\` commands are printed to standard error, with exit code and time, and a log is written to
\`logs/tool.log\` below the working directory: steps, commands, warnings, errors. \`trace: true\` adds all other events and every
SQL statement of the tool itself; for \`pg_dump\`, \`pg_restore\` and SQL files it contains the command. Passwords and keys are
masked. Several runs may write at once; a line begins with its time and process. At 5 MB the log becomes \`tool.log.1\`, and so on
up to \`tool.log.4\`. A log that cannot be written is a warning, and the run continues.

## History

Each build, load, reset, transfer and change of branches adds a line to \`history.jsonl\` in the working directory, from the screens
and from scripts: time, target, snapshot, source, destination, duration and outcome (mode 0600; URLs without passwords; of an error
the code only). \`tool history\` and the key \`h\` of the screens list them. At 1 MB the file becomes \`history.jsonl.1\`, which
replaces the one before.

## Paths

\`~\` is the home directory; a relative path starts at the folder of the configuration file. A \`query_file\` is searched
there and then in the current directory.`;

function sections(shape: Shape, path: string[]): string[] {
  const inner = shape.kind === 'map' || shape.kind === 'list' ? shape.of : shape;
  if (inner.kind !== 'object') return [];
  const rows = [...inner.keys].map(([key, child]) => row([...path, key], child));
  return [
    `## ${path.length === 0 ? 'Keys of the top level' : `\`${path.join('.')}\``}`,
    ...(shape.description === '' ? [] : [shape.description]),
    markdownTable([['key', 'type', 'default', 'variable', 'meaning'], ...rows]),
    ...[...inner.keys].flatMap(([key, child]) => sections(child, [...path, placeholder(key, child)])),
  ];
}

function placeholder(key: string, { kind }: Shape): string {
  if (kind === 'map') return `${key}.<name>`;
  return kind === 'list' ? `${key}[]` : key;
}

function row(path: string[], shape: Shape): string[] {
  const { description, traits, required } = shape;
  const inList = path.some((part) => part.endsWith('[]'));
  const notes = [description, traits.template ? 'Takes a template.' : '', traits.secret ? 'Secret.' : ''];
  return [
    `\`${path.at(-1)}\``,
    typeText(shape),
    required ? 'required' : shape.kind === 'value' && shape.default !== undefined ? `\`${shape.default}\`` : '',
    inList || (shape.kind !== 'value' && !isPlainList(shape)) ? '' : `\`${variableOf(path)}\``,
    notes
      .filter((note) => note !== '')
      .join(' ')
      .replaceAll('|', '\\|'),
  ];
}

function variableOf(path: string[]): string {
  const parts = path.flatMap((part) => part.split('.'));
  return variableName(parts.map((part) => (part === '<name>' ? 'NAME' : part)));
}

function isPlainList(shape: Shape): boolean {
  return shape.kind === 'list' && shape.of.kind === 'value';
}

function typeText(shape: Shape): string {
  if (shape.kind === 'object') return 'map';
  if (shape.kind === 'map') return 'map by name';
  if (shape.kind === 'list') return shape.of.kind === 'value' ? `list of ${typeText(shape.of)}` : 'list of maps';
  if (shape.choices.length > 0) return shape.choices.map((choice) => `\`${choice}\``).join(', ');
  return shape.traits.unit && shape.type !== 'text' ? `${shape.type}, ${shape.traits.unit}` : shape.type;
}
