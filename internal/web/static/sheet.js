// Marks that are not sent yet stay on this phone, also without a connection.
'use strict'

const sheet = document.querySelector('form[data-sheet]')
if (sheet) {
  const key = 'sheet ' + sheet.dataset.sheet
  const week = 7 * 24 * 3600 * 1000
  const notice = document.getElementById('unsent')
  const read = (name) => { try { return JSON.parse(localStorage.getItem(name)) } catch { return null } }
  const names = () => { try { return Object.keys(localStorage) } catch { return [] } } // storage may be blocked
  const forget = (name) => { try { localStorage.removeItem(name) } catch { /* nothing is kept */ } }
  const value = (name) => (sheet.elements[name] ? sheet.elements[name].value : undefined)

  const setTime = (name, at) => {
    if (!sheet.elements[name]) {
      const field = document.createElement('input')
      field.type = 'hidden'
      field.name = name
      sheet.append(field)
    }
    sheet.elements[name].value = at
  }

  const restore = (kept) => {
    const differs = Object.entries(kept.values).some(([name, old]) => value(name) !== undefined && value(name) !== old)
    if (!differs) return forget(key)
    for (const [name, old] of Object.entries(kept.values)) if (value(name) !== undefined) sheet.elements[name].value = old
    for (const [name, at] of Object.entries(kept.times)) if (value(name.replace('t-', 'm-')) !== undefined) setTime(name, at)
    if (Object.entries(kept.values).some(([name, old]) => name.startsWith('n-') && old)) document.getElementById('notes').open = true
    sheet.elements.version.value = kept.version
    notice.hidden = false
  }
  for (const name of names()) {
    if (name.startsWith('sheet ') && !(Date.now() - (read(name) || {}).changed < week)) forget(name)
  }
  const keep = (draft) => { try { localStorage.setItem(key, JSON.stringify(draft)) } catch { /* the form still works */ } }
  const kept = read(key)
  // The page of a saved sheet may load again after more marks. Only marks that were sent are forgotten.
  if ('saved' in sheet.dataset && kept && kept.sent && kept.version !== value('version')) forget(key)
  else if (kept && !document.getElementById('faults')) restore(kept)

  sheet.addEventListener('input', (event) => {
    if (!/^[mn]-/.test(event.target.name)) return
    const draft = read(key) || { version: value('version'), values: {}, times: {} }
    draft.changed = Date.now()
    draft.sent = false
    draft.values[event.target.name] = value(event.target.name)
    if (event.target.name.startsWith('m-')) {
      const name = event.target.name.replace('m-', 't-')
      setTime(name, draft.times[name] = new Date().toISOString())
    }
    keep(draft)
  })

  // The count follows the marks. "All here" marks the rest without sending: Save sends.
  const count = sheet.querySelector('[data-count]')
  const rows = [...sheet.querySelectorAll('.marks fieldset')]
  const showCount = () => {
    const marks = rows.map((row) => (row.querySelector(':checked') || { value: '' }).value)
    const here = marks.filter((mark) => 'pl'.includes(mark) && mark).length
    const left = marks.filter((mark) => !mark).length
    const text = count.dataset.count.replace('%h', here).replace('%a', marks.length - here - left)
    count.textContent = left ? text + ' · ' + count.dataset.left.replace('%l', left) : text
  }
  if (count) {
    showCount()
    sheet.addEventListener('change', showCount)
  }
  const rest = sheet.querySelector('.rest')
  if (rest) {
    rest.addEventListener('click', (event) => {
      event.preventDefault()
      for (const row of rows) {
        const present = row.querySelector('[value=p]')
        if (row.querySelector(':checked')) continue
        present.checked = true
        present.dispatchEvent(new Event('input', { bubbles: true }))
      }
      showCount()
    })
  }

  sheet.addEventListener('submit', () => {
    const draft = read(key)
    if (draft) keep({ ...draft, sent: true })
  })
}
