/** A piece of a text with templates: what stands there, or what a template puts there. */
export interface Piece {
  text: string;
  inserted: boolean;
}

/** Why a template cannot be filled in, and at which character of the text. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
  readonly offset: number;
  readonly hint: string;

  constructor(message: string, offset: number, hint = 'A template is {{`NAME` | env}} or {{`text`}}.') {
    super(message);
    this.offset = offset;
    this.hint = hint;
  }
}

type Token = { kind: 'text' | 'word' | 'pipe'; value: string; offset: number };

/** What may stand between the braces, in the order in which it is tried. */
const TOKENS: { kind: Token['kind'] | 'space'; pattern: RegExp; read: (source: string) => string }[] = [
  { kind: 'space', pattern: /\s+/y, read: () => '' },
  { kind: 'text', pattern: /`[^`]*`/y, read: (source) => source.slice(1, -1) },
  { kind: 'text', pattern: /"(?:[^"\\\n]|\\.)*"/y, read: unquote },
  { kind: 'pipe', pattern: /\|/y, read: (source) => source },
  { kind: 'word', pattern: /[\p{L}_][\p{L}\p{N}_.-]*(?<!-)/uy, read: (source) => source },
];

/**
 * Fills in the Go templates that connection URLs accept: {{`NAME` | env}}, {{"NAME" | env}}, {{env "NAME"}} and
 * constants ({{`text`}}, {{"text\n"}}, {{TEXT}}), with the trim markers {{- and -}}.
 * https://pkg.go.dev/text/template
 */
export function fillTemplate(text: string, environment: NodeJS.ProcessEnv): Piece[] {
  const pieces: Piece[] = [];
  let position = 0;
  let trimsNext = false;
  while (position <= text.length) {
    const open = text.indexOf('{{', position);
    const literal = text.slice(position, open === -1 ? text.length : open);
    const trimmed = trimsNext ? literal.trimStart() : literal;
    if (open === -1) {
      pieces.push({ text: trimmed, inserted: false });
      break;
    }
    const action = readAction(text, open);
    pieces.push({ text: action.trimsBefore ? trimmed.trimEnd() : trimmed, inserted: false });
    pieces.push({ text: evaluate(action.tokens, { environment, offset: open }), inserted: true });
    trimsNext = action.trimsAfter;
    position = action.end;
  }
  return pieces.filter((piece) => piece.text !== '' || piece.inserted);
}

interface Action {
  tokens: Token[];
  trimsBefore: boolean;
  trimsAfter: boolean;
  /** Just behind the closing braces. */
  end: number;
}

function readAction(text: string, open: number): Action {
  const trimsBefore = /^\{\{-\s/.test(text.slice(open, open + 4));
  let position = open + (trimsBefore ? 3 : 2);
  const tokens: Token[] = [];
  while (position < text.length) {
    const close = /(?:\s-)?\}\}/y;
    close.lastIndex = position;
    const closing = close.exec(text);
    if (closing) return { tokens, trimsBefore, trimsAfter: closing[0].length > 2, end: close.lastIndex };
    const token = readToken(text, position);
    if (token.kind !== 'space') tokens.push({ kind: token.kind, value: token.value, offset: position });
    position = token.end;
  }
  throw new TemplateError('{{ is not closed by }}', open);
}

function readToken(text: string, offset: number): { kind: Token['kind'] | 'space'; value: string; end: number } {
  for (const { kind, pattern, read } of TOKENS) {
    const expression = new RegExp(pattern);
    expression.lastIndex = offset;
    const found = expression.exec(text)?.[0];
    if (found === undefined) continue;
    // A blank before the trim marker belongs to the marker.
    const source = kind === 'space' && /^-\}\}/.test(text.slice(offset + found.length)) ? found.slice(0, -1) : found;
    if (source === '') continue;
    return { kind, value: readValue(() => read(source), offset), end: offset + source.length };
  }
  const character = text.slice(offset, offset + 1);
  if (character === '`' || character === '"') throw new TemplateError(`the ${character} is not closed`, offset);
  throw new TemplateError(`${character} is not expected here`, offset);
}

/** A pipeline: the first command gives a value, every further one takes it. */
function evaluate(
  tokens: Token[],
  { environment, offset }: { environment: NodeJS.ProcessEnv; offset: number },
): string {
  const lookUp = (name: string, at: number): string => {
    const value = environment[name];
    if (value === undefined) throw new TemplateError(`the variable ${name} is not set`, at, `Set it: export ${name}=…`);
    return value;
  };
  const [first, ...rest] = splitAtPipes(tokens);
  if (!first?.[0])
    throw new TemplateError('nothing stands between the braces, or before the |', first?.at(0)?.offset ?? offset);
  const [head, argument, ...more] = first;
  let value: string;
  if (head.kind === 'word' && head.value === 'env') {
    if (argument?.kind !== 'text') throw new TemplateError('env takes a name in quotes: {{env "NAME"}}', head.offset);
    value = lookUp(argument.value, argument.offset);
    if (more[0]) throw new TemplateError(`"${more[0].value}" is one too many: env takes one name`, more[0].offset);
  } else {
    if (argument) throw new TemplateError(`"${argument.value}" is not expected after "${head.value}"`, argument.offset);
    value = head.value;
  }
  for (const command of rest) {
    const [name, extra] = command;
    if (name?.kind !== 'word' || name.value !== 'env') {
      throw new TemplateError(
        `only env may follow the |, found ${name ? `"${name.value}"` : 'nothing'}`,
        name?.offset ?? offset,
      );
    }
    if (extra) throw new TemplateError(`"${extra.value}" is one too many: env has its name from the |`, extra.offset);
    value = lookUp(value, head.offset);
  }
  return value;
}

function splitAtPipes(tokens: Token[]): Token[][] {
  const commands: Token[][] = [[]];
  for (const token of tokens) {
    if (token.kind === 'pipe') commands.push([]);
    else commands.at(-1)?.push(token);
  }
  return commands;
}

function readValue(read: () => string, offset: number): string {
  try {
    return read();
  } catch (error) {
    throw new TemplateError(error instanceof Error ? error.message : String(error), offset);
  }
}

const SIMPLE_ESCAPES: Record<string, string> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  '"': '"',
};

/** The text of a Go string in double quotes. https://go.dev/ref/spec#String_literals */
function unquote(source: string): string {
  return source
    .slice(1, -1)
    .replace(/\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|(.))/gu, (sequence, ...groups) => {
      const [hex, short, long, octal, simple] = groups as (string | undefined)[];
      if (octal !== undefined) return String.fromCodePoint(Number.parseInt(octal, 8));
      const digits = hex ?? short ?? long;
      if (digits !== undefined) return String.fromCodePoint(Number.parseInt(digits, 16));
      const character = SIMPLE_ESCAPES[simple ?? ''];
      if (character === undefined) throw new Error(`${sequence} is not an escape of Go`);
      return character;
    });
}
