// Writes the table of languages: English and the 22 of the Eighth Schedule of India's constitution. CLDR has what a
// language is; own.json has what CLDR does not know: the fallback, the codes of providers, further spellings.
import { readFileSync } from "node:fs";

const read = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url)));
const cldr = (name, code, file) => read(`node_modules/cldr-${name}-full/main/${code}/${file}.json`).main[code];
const own = read("own.json");
const codes = Object.keys(own);
const plurals = read("node_modules/cldr-core/supplemental/plurals.json").supplemental["plurals-type-cardinal"];
const likely = read("node_modules/cldr-core/supplemental/likelySubtags.json").supplemental.likelySubtags;
const placeholders = (pattern) => pattern.replace(/[dMy]+/g, (field) => ({ d: "{day}", M: "{month}", y: "{year}" })[field[0]]);

const table = codes.map((code) => {
  const calendar = cldr("dates", code === "en" ? "en-IN" : code, "ca-gregorian").dates.calendars.gregorian;
  const names = cldr("localenames", code, "languages").localeDisplayNames.languages;
  const lists = cldr("misc", code, "listPatterns").listPatterns["listPattern-type-standard"];
  const { name = names[code], ...rest } = own[code];
  return {
    code,
    name,
    english: cldr("localenames", "en", "languages").localeDisplayNames.languages[code],
    script: likely[code].split("-")[1],
    rightToLeft: cldr("misc", code, "layout").layout.orientation.characterOrder === "right-to-left" || undefined,
    plurals: plurals[code] ? Object.keys(plurals[code]).map((key) => key.replace("pluralRule-count-", "")) : ["other"],
    months: Object.values(calendar.months.format.wide),
    weekdays: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"].map((day) => calendar.days.format.wide[day]),
    dayMonth: placeholders(calendar.dateTimeFormats.availableFormats.MMMMd),
    dayMonthYear: placeholders(calendar.dateFormats.long),
    comma: lists.middle.slice("{0}".length, -"{1}".length),
    names: Object.fromEntries(codes.filter((other) => names[other] && other !== code).map((other) => [other, names[other]])),
    ...rest,
  };
});

// One line for each value, so that a change is easy to read.
const line = (entry) => Object.entries(entry).filter(([, value]) => value !== undefined).map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)}`).join(",\n");
process.stdout.write(`[\n${table.map((entry) => `{\n${line(entry)}\n}`).join(",\n")}\n]\n`);
