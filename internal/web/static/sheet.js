// Marks that the server does not have yet stay on this phone, also without a connection. offline.js, which runs before
// this script, keeps them. Without either the form is sent as it is.
'use strict'
{
const { waiting } = window
const begin = (early) => {
  const sheet = document.querySelector('form[data-sheet]')
  const path = sheet.getAttribute('action')
  const unsent = document.getElementById('unsent')
  const refused = document.getElementById('refused')
  const ids = sheet.elements.players.value.split(' ')
  const rows = [...sheet.querySelectorAll('.marks fieldset')].map((field, i) => ({
    field, player: ids[i], name: field.querySelector('legend').firstChild.textContent.trim(), note: field.querySelector('[name^=n-]'),
    at: field.querySelector('[name^=t-]'), noted: false,
  }))
  const markOf = (row) => (row.field.querySelector(':checked') || { value: '' }).value
  const wordOf = (mark) => document.getElementById(mark).textContent
  const own = () => waiting.own().filter((item) => item.sheet === path)
  const ofRow = (row, items) => items.filter((item) => item.player === row.player)

  // One mark of each player waits, with the time at which it was made.
  const keep = (row, items, more) => {
    const earlier = ofRow(row, items)
    const [last] = earlier.slice(-1)
    let note
    if (row.noted || row.note.value !== row.note.defaultValue) note = row.note.value
    else if (last && !last.told) note = last.note
    const item = { sheet: path, player: row.player, name: row.name, mark: markOf(row), note, at: Date.now(), ...more }
    waiting.put(item)
    earlier.forEach(waiting.remove)
  }

  // The marks of other tabs and of earlier visits are shown. Those that the page has are not kept any longer.
  const whole = 'whole' in sheet.dataset // the page shows marks that the server does not have
  const restore = () => {
    const items = own()
    for (const row of rows) {
      for (const item of ofRow(row, items)) {
        if (item.told) continue
        const radio = item.mark && row.field.querySelector(`[value=${item.mark}]`)
        const has = radio && radio.defaultChecked && (item.note === undefined || item.note === row.note.defaultValue)
        if (has && !item.saved && !whole && !document.body.dataset.old) { waiting.remove(item); continue }
        if (radio) radio.checked = true
        if (item.note !== undefined && row.note !== document.activeElement) row.note.value = item.note
        if (item.note) document.getElementById('notes').open = true
      }
    }
  }
  const showUnsent = () => {
    const drafts = own().filter((item) => !item.saved && !item.told)
    const notes = drafts.filter((item) => !item.mark)
    unsent.hidden = !drafts.length
    unsent.firstChild.hidden = drafts.length === notes.length
    unsent.lastChild.hidden = !notes.length
    unsent.lastChild.lastChild.textContent = notes.map((item) => item.name).join(', ')
  }
  const showRefused = () => {
    const told = own().filter((item) => item.told)
    refused.hidden = !told.length
    refused.querySelector('ul').replaceChildren(...told.map((item) => {
      const li = document.createElement('li')
      const name = document.createElement('b')
      const why = document.createElement('p')
      const button = document.createElement('button')
      name.textContent = `${item.name} · ${wordOf(item.mark)}`
      button.type = 'button'
      button.className = 'quiet-button small'
      button.textContent = refused.dataset.remove
      button.addEventListener('click', () => { waiting.remove(item); waiting.changed() })
      why.textContent = item.told
      li.append(name, why, button)
      return li
    }))
  }

  // The count follows the marks.
  const count = sheet.querySelector('[data-count]')
  const showCount = () => {
    if (!count) return
    const marks = rows.map(markOf)
    const here = marks.filter((mark) => 'pl'.includes(mark) && mark).length
    const left = marks.filter((mark) => !mark).length
    const text = count.dataset.count.replace('%h', here).replace('%a', marks.length - here - left)
    count.firstChild.textContent = left ? text + ' · ' + count.dataset.left.replace('%l', left) : text
    const waits = own().filter(waiting.sendable).length
    count.lastChild.textContent = waits ? waiting.text('waits', waits) : ''
  }
  const show = () => { restore(); showRefused(); showCount() }
  const typed = ({ target }) => {
    if (!/^[mn]-/.test(target.name)) return
    const row = rows.find(({ field }) => field.contains(target))
    if (target === row.note) row.noted = true
    keep(row, own())
    showCount()
  }
  early.forEach(typed)
  show()
  showUnsent()
  document.addEventListener('waits', show)
  sheet.addEventListener('input', typed)
  // "All here" marks the rest without sending: Save sends.
  const rest = sheet.querySelector('.rest')
  if (rest) {
    rest.addEventListener('click', (event) => {
      event.preventDefault()
      const items = own()
      for (const row of rows) {
        if (markOf(row)) continue
        row.field.querySelector('[value=p]').checked = true
        keep(row, items)
      }
      showCount()
    })
  }

  // A mark that the page itself set, because the family said so, is as old as the page: any other counts more.
  let pass = false
  sheet.addEventListener('submit', async (event) => {
    if (pass) return
    const made = document.body.dataset.old ? Date.parse(document.body.dataset.old) : Math.round(performance.timeOrigin)
    const items = own()
    for (const row of rows) {
      const mark = markOf(row)
      if (!mark || row.field.disabled) continue
      const [item] = ofRow(row, items).slice(-1)
      const radio = row.field.querySelector(':checked')
      if (item && !item.told) { if (!item.saved) waiting.put({ ...item, saved: true }) }
      else if (whole || !radio.defaultChecked || row.note.value !== row.note.defaultValue) {
        const given = sheet.dataset.whole === 'given' && radio.defaultChecked
        keep(row, items, { saved: true, given, at: given ? made : row.at ? Date.parse(row.at.value) : Date.now() })
      }
    }
    if (!own().some(waiting.sendable)) {
      if (navigator.onLine && !document.body.dataset.old) return // the page has nothing new
      for (const row of rows) if (markOf(row) && !row.field.disabled) keep(row, own(), { saved: true, given: true, at: made })
    }
    if (!own().some(waiting.sendable)) return
    event.preventDefault()
    event.stopImmediatePropagation()
    waiting.changed()
    showUnsent()
    if (!await waiting.load().then(({ send }) => send()).then(() => waiting.signInNeeded(), () => false)) return
    // The form itself leads to the sign-in, and back to what was marked.
    for (const item of own().filter(waiting.sendable)) waiting.put({ ...item, saved: false })
    pass = true
    sheet.requestSubmit()
  })
}
// The back button may show a page from the memory of the browser: meanwhile marks were made and sent elsewhere. The
// sheet loads again, as its marks are in the storage of the phone.
addEventListener('pageshow', ({ persisted }) => { if (persisted && waiting && !waiting.memory.size) location.reload() })
// What is done on the sheet before all of it is there is kept then.
if (waiting) {
  const early = []
  const hold = (event) => {
    if (!event.target.matches('[data-sheet], [data-sheet] *')) return
    early.push(event)
    if (event.type === 'input') return
    event.preventDefault()
    event.stopImmediatePropagation()
  }
  const types = ['input', 'submit']
  for (const type of types) document.addEventListener(type, hold, true)
  waiting.parsed.then(() => {
    for (const type of types) document.removeEventListener(type, hold, true)
    begin(early.filter(({ type }) => type === 'input'))
    for (const { submitter } of early) submitter?.click()
  })
}
}
