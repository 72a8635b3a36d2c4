/** Luhn's check digit of payment cards and IMEIs. */
export function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    const digit = Number(digits[digits.length - 1 - index]);
    const doubled = index % 2 === 0 ? digit : digit * 2;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return digits.length > 0 && sum % 10 === 0;
}

/** ISO 13616: country and check digits moved to the end, letters as numbers, modulo 97. */
export function passesIban(text: string): boolean {
  const moved = text.slice(4) + text.slice(0, 4);
  let remainder = 0;
  for (const character of moved.toUpperCase()) {
    const value = Number.parseInt(character, 36);
    if (Number.isNaN(value)) return false;
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97;
  }
  return remainder === 1;
}
