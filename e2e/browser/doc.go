// Package browser has the acceptance tests of the pages in a real browser: Debian's
// Chromium, driven by chromedp.
//
// Without Chromium the tests are skipped. Set TOUCHLINE_TEST_SCREENSHOTS to a folder to
// keep a screenshot of each page.
package browser
