/** The mistakes that models make when they write arguments. */

export const mistakes: ((json: string) => string)[] = [
  // Numbers and flags as strings.
  (json) => json.replace(/: (-?\d[\d.]*|true|false)/g, ': "$1"'),
  // A fence, and a comma behind the last member.
  (json) => `\`\`\`json\n${json.replace(/\s*}\s*$/, ",\n}")}\n\`\`\``,
  // The literals of Python.
  (json) => json.replaceAll('"', "'").replaceAll("true", "True").replaceAll("false", "False").replaceAll("null", "None"),
  // A reply that was cut off.
  (json) => json.replace(/\s*}\s*$/, ""),
  // A value out of range.
  (json) => json.replace(/: -?\d[\d.]*/, ": 999999"),
];
