export function noScreensText(reason: string): string {
  return `The screens are not opened: ${reason}. Commands work everywhere:`;
}
