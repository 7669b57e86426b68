// Improvements of pages that work without them.
'use strict'

// A summary of faults takes the focus, so that screen readers read it first.
const faults = document.getElementById('faults')
if (faults) faults.focus()

// A second tap while the first is under way sends the form only once.
addEventListener('submit', (event) => {
  const form = event.target
  if (form.dataset.sent) return event.preventDefault()
  form.dataset.sent = 'yes'
  setTimeout(() => delete form.dataset.sent, 8000) // the connection may have failed
  const button = event.submitter || form.querySelector('button')
  if (form.dataset.busy && button) button.textContent = form.dataset.busy
})
// A change of the language keeps what the person has typed. Codes and files are not kept.
const typed = () => [...document.querySelectorAll('main :is(input:not([type=hidden], [type=file], [autocomplete=one-time-code]), textarea, select)')]
try {
  const kept = JSON.parse(sessionStorage.getItem('typed'))
  sessionStorage.removeItem('typed')
  const fields = typed()
  if (kept && kept.path === location.pathname && kept.values.length === fields.length) {
    fields.forEach((e, i) => { [e.value, e.checked] = [e.type === 'checkbox' || e.type === 'radio' ? e.value : kept.values[i][0], kept.values[i][1]] })
  }
  addEventListener('submit', (event) => {
    if (!event.target.matches('[data-language]')) return
    sessionStorage.setItem('typed', JSON.stringify({ path: location.pathname, values: typed().map((e) => [e.value, e.checked]) }))
  })
} catch {} // the browser keeps nothing
// What can be undone is done at once; without this script a page asks first. The offer to undo ends
// after 10 seconds, unless the person is about to press it.
for (const button of document.querySelectorAll('[data-at-once]')) {
  button.name = 'at_once'
  button.value = 'yes'
}
const undo = document.querySelector('form[data-undo]')
const endUndo = () => undo.matches(':hover, :focus-within') ? setTimeout(endUndo, 1000) : undo.remove()
if (undo) setTimeout(endUndo, 10000)
// The current tab of a row that scrolls is in view.
const tab = document.querySelector('.scroll [aria-current]')
if (tab) tab.parentElement.scrollLeft = tab.offsetLeft - tab.parentElement.offsetLeft - 24
// A code is copied by one tap. The button may come later, in a live part.
const showCopy = () => { for (const button of document.querySelectorAll('[data-copy]')) button.hidden = !navigator.clipboard }
showCopy()
addEventListener('click', (event) => {
  const button = event.target.closest('[data-copy]')
  if (button) navigator.clipboard.writeText(button.dataset.copy).then(() => { button.textContent = button.dataset.copied })
})
// Long work goes on in steps.
const next = document.querySelector('form[data-auto]')
if (next) setTimeout(() => next.requestSubmit(), 200)
const print = document.querySelector('[data-print]')
if (print) {
  print.hidden = false
  print.addEventListener('click', () => window.print())
}
// The back button may show a page from the memory of the browser, which ignores no-store: a question
// that was answered meanwhile. Such a page loads again, unless the person has typed into it.
addEventListener('pageshow', (event) => {
  for (const form of document.forms) delete form.dataset.sent
  const fields = [...document.querySelectorAll('input:not([type=hidden]), textarea')]
  if (!event.persisted || fields.some((e) => e.value !== e.defaultValue || e.checked !== e.defaultChecked)) return
  document.body.inert = true // no tap acts on the old page
  location.reload()
})

// The browser offers the code of an SMS that ends with @host #code (Web OTP).
const otp = document.querySelector('form[data-otp]')
if (otp && 'OTPCredential' in window) {
  const stop = new AbortController()
  otp.addEventListener('submit', () => stop.abort())
  navigator.credentials.get({ otp: { transport: ['sms'] }, signal: stop.signal })
    .then((credential) => { otp.elements.code.value = credential.code; otp.requestSubmit() })
    .catch(() => {}) // the person types the code
}

// Pages with live parts load them again when something changed. A part that the person
// works in stays as it is until the focus leaves it.
const { events } = document.body.dataset
if (events && document.querySelector('[data-live]')) {
  let stale = false // a part was not replaced
  let loads = Promise.resolve()
  const show = async () => {
    stale = false
    const response = await fetch(location.href, { headers: { Accept: 'text/html', 'Touchline-Live': 'yes' } })
    if (response.status >= 500) throw response.status
    if (!response.ok) return
    const page = new DOMParser().parseFromString(await response.text(), 'text/html')
    for (const part of document.querySelectorAll('[data-live]')) {
      const fresh = page.querySelector(`[data-live="${part.dataset.live}"]`)
      if (fresh && part.contains(document.activeElement)) stale = true
      else if (fresh) part.replaceWith(fresh)
    }
    showCopy()
  }
  const load = () => { loads = loads.then(show).then(check).catch(() => { setTimeout(load, 10000) }) }
  // No event reports that a queued message has left. The pauses double from 2 seconds to an hour.
  let pause = 1000
  const check = () => { if (pause < 3600000 && document.querySelector('[data-queued]')) setTimeout(load, pause *= 2) }
  check()
  let source
  const follow = () => {
    source = new EventSource(events)
    const own = source
    source.onmessage = load
    // The browser opens a broken stream again, but not one that was refused.
    source.onerror = () => { if (own === source && source.readyState === EventSource.CLOSED) setTimeout(() => { if (own === source) follow() }, 30000) }
  }
  follow()
  // A phone that slept may hold a stream that is dead without an error.
  let hidden = 0
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) { hidden = Date.now(); return }
    if (Date.now() - hidden < 60000) return
    source.close()
    follow()
    load()
  })
  addEventListener('focusout', (event) => { if (stale && !event.relatedTarget?.closest('[data-live]')) load() })
}

// The preview of a public page follows the choices of its form.
const preview = document.querySelector('form[data-preview-form]')
if (preview) {
  preview.addEventListener('change', () => {
    for (const choice of preview.querySelectorAll('[name=show]')) {
      for (const part of document.querySelectorAll(`[data-field="${choice.value}"]`)) part.hidden = !choice.checked
      for (const part of document.querySelectorAll(`[data-without="${choice.value}"]`)) part.hidden = choice.checked
    }
  })
}

// Push messages to this device. The form stays hidden where the browser has none.
const push = document.querySelector('form[data-push]')
if (push && 'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window) {
  const subscribe = async () => {
    if (await Notification.requestPermission() !== 'granted') throw new Error('denied')
    await navigator.serviceWorker.register('/service-worker.js')
    const { pushManager } = await navigator.serviceWorker.ready
    const options = { userVisibleOnly: true, applicationServerKey: push.dataset.push }
    const earlier = await pushManager.getSubscription()
    const subscription = await pushManager.subscribe(options).catch(async (error) => {
      if (!earlier) throw error
      await earlier.unsubscribe() // the earlier subscription is for another key
      return pushManager.subscribe(options)
    })
    const { endpoint, keys } = subscription.toJSON()
    for (const [name, value] of Object.entries({ endpoint, ...keys })) push.elements[name].value = value
    push.submit()
  }
  push.closest('section').hidden = false
  push.addEventListener('submit', (event) => {
    event.preventDefault()
    subscribe().catch(() => {
      push.querySelector('[data-push-denied]').hidden = false
      delete push.dataset.sent
    })
  })
}
