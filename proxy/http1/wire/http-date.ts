let writtenSecond = 0;
let text = "";

/** The time as responses state it (RFC 9110 section 6.6.1); made anew once a second. */
export function httpDate(): string {
  const second = Math.floor(Date.now() / 1_000);
  if (second !== writtenSecond) {
    writtenSecond = second;
    text = new Date(second * 1_000).toUTCString();
  }
  return text;
}
