// Improvements of pages that work without them.
'use strict'

// A summary of faults takes the focus, so that screen readers read it first.
const faults = document.getElementById('faults')
if (faults) faults.focus()

// A second tap while the first is under way sends the form only once.
for (const form of document.forms) {
  form.addEventListener('submit', (event) => {
    if (form.dataset.sent) return event.preventDefault()
    form.dataset.sent = 'yes'
    setTimeout(() => delete form.dataset.sent, 8000) // the connection may have failed
  })
}
// The page may come back from the cache of the back button.
addEventListener('pageshow', () => { for (const form of document.forms) delete form.dataset.sent })

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
// works in stays as it is.
const live = [...document.querySelectorAll('[data-live]')]
if (live.length && document.body.classList.contains('console')) {
  new EventSource('/coach/events').onmessage = async () => {
    const response = await fetch(location.href, { headers: { Accept: 'text/html' } })
    if (!response.ok) return
    const next = new DOMParser().parseFromString(await response.text(), 'text/html')
    for (const part of document.querySelectorAll('[data-live]')) {
      const fresh = next.querySelector(`[data-live="${part.dataset.live}"]`)
      if (fresh && !part.contains(document.activeElement)) part.replaceWith(fresh)
    }
  }
}
