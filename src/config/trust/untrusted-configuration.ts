import { EXIT, UserError } from '../../runtime/errors.ts';
import type { TrustItems, TrustRequest } from './trust-request.ts';

/** An untrusted configuration of the current folder: nothing was connected to, no variable was read. */
export class UntrustedConfiguration extends UserError {
  readonly request: TrustRequest;

  constructor(request: TrustRequest) {
    super(`The configuration of this folder is not trusted: ${request.file}`, {
      code: 'configuration_untrusted',
      exit: EXIT.refused,
      details: trustLines(request),
      hint: `Read the file. If you trust it, add --trust to the command once, or set TOOL_TRUST=${request.digest}`,
    });
    this.request = request;
  }
}

const LABELS: Record<keyof TrustItems, string> = {
  hosts: 'Connects to',
  variables: 'Reads variables',
  files: 'Uses files',
  images: 'Runs images',
  commands: 'Runs SQL',
  keys: 'Trusts keys',
};

export interface TrustLine {
  label: string;
  text: string;
}

export function trustItems({ items }: Pick<TrustRequest, 'items'>): TrustLine[] {
  return (Object.keys(LABELS) as (keyof TrustItems)[]).flatMap((key) =>
    items[key].flatMap((item) =>
      visible(item)
        .split('\n')
        .map((text, index) => ({ label: index === 0 ? LABELS[key] : '', text })),
    ),
  );
}

export const LABEL_WIDTH = Math.max(...Object.values(LABELS).map((label) => label.length));

export function trustLines(request: Pick<TrustRequest, 'items'>): string[] {
  return trustItems(request).map(({ label, text }) => `${label.padEnd(LABEL_WIDTH)}  ${text}`);
}

/** Replaces control and bidirectional characters, so that a file cannot move the reader's cursor. */
function visible(text: string): string {
  return text.replaceAll(/(?!\n)[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u{${code.toString(16)}}`;
  });
}
