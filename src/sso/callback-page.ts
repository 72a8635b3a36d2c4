/** The page at the end of a sign-in. */
export function callbackPage(failure?: string): string {
  const title = failure === undefined ? 'You are signed in' : 'You are not signed in';
  const text = failure === undefined ? 'Go back to the terminal. This page can be closed.' : escapeHtml(failure);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>${title}</title>
<style>body { font: 1.1rem system-ui, sans-serif; max-width: 32rem; margin: 20vh auto; padding: 0 1rem }</style>
<h1>${title}</h1>
<p>${text}</p>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
