/**
 * A font of three by five pixels, enough to show a prompt: capitals, digits and the marks of ASCII.
 *
 * Each digit of a glyph is a row from top to bottom, its three bits the pixels from left to right: `2` is the one in the
 * middle, `7` all three.
 */
const drawn: Readonly<Record<string, string>> = {
  ...{ A: "25755", B: "65656", C: "34443", D: "65556", E: "74647", F: "74644", G: "34553", H: "55755", I: "72227" },
  ...{ J: "11152", K: "55655", L: "44447", M: "57755", N: "65555", O: "25552", P: "65644", Q: "25563", R: "65655" },
  ...{ S: "34216", T: "72222", U: "55557", V: "55552", W: "55775", X: "55255", Y: "55222", Z: "71247", " ": "00000" },
  ...{ 0: "75557", 1: "26227", 2: "61247", 3: "61216", 4: "55711", 5: "74616", 6: "34757", 7: "71222", 8: "75757" },
  ...{ 9: "75716", ".": "00002", ",": "00024", "!": "22202", "?": "61202", ":": "02020", ";": "02024", "'": "22000" },
  ...{ '"': "55000", "-": "00700", _: "00007", "+": "02720", "=": "07070", "/": "11244", "\\": "44211", "(": "12221" },
  ...{ ")": "42224", "[": "64446", "]": "31113", "{": "32623", "}": "62326", "*": "05250", "#": "57575", "%": "51245" },
  ...{ "&": "25253", "@": "25543", $: "36236", "<": "12421", ">": "42124", "|": "22222", "~": "03600", "^": "25000" },
  "`": "42000",
};
/** For every other character: a block. */
const unknown = "77777";

export const glyphWidth = 3;
export const glyphHeight = 5;

/** Whether a pixel of a character is set; small letters are drawn as capitals, accents are left out. */
export function isSet(character: string, x: number, y: number): boolean {
  const plain = character.normalize("NFD").charAt(0).toUpperCase();
  const row = Number((Object.hasOwn(drawn, plain) ? drawn[plain] : unknown)?.charAt(y));
  return ((row >> (glyphWidth - 1 - x)) & 1) === 1;
}
