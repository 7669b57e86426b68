// Prints what six readers of calendars find in the calendar on standard input: for each event its id, times, summary, place and state.
import { readFileSync } from 'node:fs'
import ICAL from 'ical.js'
import nodeIcal from 'node-ical'
import IcalExpander from 'ical-expander'
import { parseString } from 'cal-parser'
import { convertIcsCalendar } from 'ts-ics'
import ical from 'ical'

const text = readFileSync(0, 'utf8')
const time = (date) => new Date(date).toISOString()
const row = (id, start, end, summary, place, state) => [id, time(start), time(end), summary, place ?? '', state].join(' | ')
const ofIcal = (all) => Object.values(all).filter((e) => e.type === 'VEVENT').map((e) => row(e.uid, e.start, e.end, e.summary, e.location, e.status))
const ofICAL = (e) => row(e.uid, e.startDate.toJSDate(), e.endDate.toJSDate(), e.summary, e.location, e.component.getFirstPropertyValue('status'))
const readers = {
  'ical.js': () => new ICAL.Component(ICAL.parse(text)).getAllSubcomponents('vevent').map((e) => ofICAL(new ICAL.Event(e))),
  'node-ical': () => ofIcal(nodeIcal.parseICS(text)),
  'ical-expander': () => new IcalExpander({ ics: text, maxIterations: 1000 }).all().events.map(ofICAL),
  'cal-parser': () => parseString(text).events.map((e) => row(e.uid.value, e.dtstart.value, e.dtend.value, e.summary.value, e.location?.value, e.status.value)),
  'ts-ics': () => convertIcsCalendar(undefined, text).events.map((e) => row(e.uid, e.start.date, e.end.date, e.summary, e.location, e.status)),
  ical: () => ofIcal(ical.parseICS(text))
}
const found = {}
for (const [name, read] of Object.entries(readers)) found[name] = read().sort()
console.log(JSON.stringify(found))
