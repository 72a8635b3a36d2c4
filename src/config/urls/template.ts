export interface Piece {
  text: string;
  inserted: boolean;
}

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

const TOKENS: { kind: Token['kind'] | 'space'; pattern: RegExp; read: (source: string) => string }[] = [
  { kind: 'space', pattern: /(?!\s-\}\})\s/y, read: () => '' },
  { kind: 'text', pattern: /`[^`]*`/y, read: (source) => source.slice(1, -1) },
  { kind: 'text', pattern: /"(?:[^"\\\n]|\\.)*"/y, read: unquote },
  { kind: 'pipe', pattern: /\|/y, read: (source) => source },
  { kind: 'word', pattern: /[\p{L}\p{N}_][\p{L}\p{N}_.-]*(?<!-)/uy, read: (source) => source },
];

export type Variables = (name: string) => string | undefined;

export function variablesOf(environment: NodeJS.ProcessEnv): Variables {
  // Own properties only: every object has a `constructor`.
  return (name) => (Object.hasOwn(environment, name) ? environment[name] : undefined);
}

/**
 * Fills in the Go templates that connection URLs accept: {{`NAME` | env}}, {{"NAME" | env}}, {{env "NAME"}} and
 * constants ({{`text`}}, {{"text\n"}}, {{TEXT}}), with the trim markers {{- and -}}.
 * https://pkg.go.dev/text/template
 */
export function fillTemplate(text: string, variables: Variables): Piece[] {
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
    pieces.push({ text: evaluate(action.tokens, { variables, offset: open }), inserted: true });
    trimsNext = action.trimsAfter;
    position = action.end;
  }
  return pieces.filter((piece) => piece.text !== '' || piece.inserted);
}

interface Action {
  tokens: Token[];
  trimsBefore: boolean;
  trimsAfter: boolean;
  end: number;
}

/** A blank before the trim marker belongs to the marker. */
const CLOSING = /(?:\s-)?\}\}/y;

function readAction(text: string, open: number): Action {
  const trimsBefore = /^\{\{-\s/.test(text.slice(open, open + 4));
  let position = open + (trimsBefore ? 3 : 2);
  const tokens: Token[] = [];
  while (position < text.length) {
    CLOSING.lastIndex = position;
    const closing = CLOSING.exec(text)?.[0];
    if (closing) return { tokens, trimsBefore, trimsAfter: closing !== '}}', end: position + closing.length };
    const token = readToken(text, position);
    if (token.kind !== 'space') tokens.push({ kind: token.kind, value: token.value, offset: position });
    position = token.end;
  }
  throw new TemplateError('{{ is not closed by }}', open);
}

function readToken(text: string, offset: number): { kind: Token['kind'] | 'space'; value: string; end: number } {
  for (const { kind, pattern, read } of TOKENS) {
    pattern.lastIndex = offset;
    const source = pattern.exec(text)?.[0];
    if (source === undefined) continue;
    return { kind, value: readValue(() => read(source), offset), end: offset + source.length };
  }
  const character = text.charAt(offset);
  if (character === '`' || character === '"') throw new TemplateError(`the ${character} is not closed`, offset);
  throw new TemplateError(`${character} is not expected here`, offset);
}

function evaluate(tokens: Token[], { variables, offset }: { variables: Variables; offset: number }): string {
  const [first, second, ...rest] = tokens;
  if (!first) throw new TemplateError('nothing is between the braces', offset);
  if (isEnv(first)) {
    if (second?.kind !== 'text') throw new TemplateError('env takes a name in quotes: {{env "NAME"}}', first.offset);
    refuse(rest[0]);
    return variableOf(second, variables);
  }
  if (first.kind === 'pipe') throw new TemplateError('nothing is before the |', first.offset);
  if (!second) return first.value;
  if (second.kind !== 'pipe') refuse(second);
  const [name, extra] = rest;
  if (!name) throw new TemplateError('nothing is behind the |', second.offset);
  if (!isEnv(name)) throw new TemplateError('only env may follow the |', name.offset);
  refuse(extra);
  return variableOf(first, variables);
}

function isEnv({ kind, value }: Token): boolean {
  return kind === 'word' && value === 'env';
}

/** The message repeats no text: it may be a password. */
function refuse(token: Token | undefined): void {
  if (!token) return;
  const found = token.kind === 'text' ? 'a text in quotes' : `"${token.value}"`;
  throw new TemplateError(`${found} is not expected here`, token.offset);
}

function variableOf({ value: name, offset }: Token, variables: Variables): string {
  const value = variables(name);
  if (value === undefined) {
    throw new TemplateError(`the variable ${name} is not set`, offset, `Set it: export ${name}=…`);
  }
  return value;
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
