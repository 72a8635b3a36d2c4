/** Splits a name into words: `lastSignIn_IP` → `last sign in ip`, `Straße` → `strasse`. */
export function wordsOf(name: string): string {
  return name
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .replaceAll(/(\p{L})(\d)/gu, '$1 $2')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll('ł', 'l')
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

/** Whole words or phrases; each is a regular expression, separated by ` | `. */
export function words(alternatives: TemplateStringsArray): RegExp {
  return new RegExp(`(?:^| )(?:${joined(alternatives)})(?: |$)`, 'u');
}

export function exactly(alternatives: TemplateStringsArray): RegExp {
  return new RegExp(`^(?:${joined(alternatives)})$`, 'u');
}

function joined({ raw: [text = ''] }: TemplateStringsArray): string {
  return text.trim().replaceAll(/\s+\|\s+/g, '|');
}
