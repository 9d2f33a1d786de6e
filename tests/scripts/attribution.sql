# CALL ATTRIBUTION: what each channel contributed to the orders of a table.

CREATE TABLE touches (visitor string, time timestamp, source string, medium string, subcat string, value decimal(19,6), order_id string, currency string, confirmed bool);
----
ok, 0 rows

INSERT INTO touches (id, visitor, time, source, medium, value, order_id, confirmed) VALUES (11, 'anna', 1717228800, 'google', 'cpc', NULL, '', 0), (7, 'anna', 1717443000, 'newsletter', 'email', NULL, '', 0), (3, 'anna', 1717496100, '', '', 1.00, '1041', 0), (4, 'anna', 1717496105, '', '', 129.90, '1041', 1), (21, 'ben', 1717329600, 'google', 'organic', NULL, '', 0), (22, 'ben', 1717588800, '(direct)', '', NULL, '', 0), (23, 'ben', 1717590000, '', '', 20.05, '1042', 0), (24, 'cleo', 1717621200, 'google', 'cpc', NULL, '', 0);
----
ok, 8 rows

# An order that a back end confirmed counts in place of what the page told.
CALL ATTRIBUTION('touches', 'last,linear,markov' AS model, 'source-medium' AS channel_name);
----
channel | model | transactions | revenue | transactions_exact | revenue_exact
(direct)-(none) | last | 1.00 | 20.05 | 1 | 20.05
google-cpc | last | 0.00 | 0.00 | 0 | 0
google-organic | last | 0.00 | 0.00 | 0 | 0
newsletter-email | last | 1.00 | 129.90 | 1 | 129.9
(total) | last | 2.00 | 149.95 | 2 | 149.95
(direct)-(none) | linear | 0.50 | 10.03 | 0.5 | 10.025
google-cpc | linear | 0.50 | 64.95 | 0.5 | 64.95
google-organic | linear | 0.50 | 10.02 | 0.5 | 10.025
newsletter-email | linear | 0.50 | 64.95 | 0.5 | 64.95
(total) | linear | 2.00 | 149.95 | 2 | 149.95
(direct)-(none) | markov | 0.50 | 10.03 | 0.5 | 10.025000000000006
google-cpc | markov | 0.50 | 64.95 | 0.5 | 64.94999999999999
google-organic | markov | 0.50 | 10.02 | 0.5 | 10.025000000000006
newsletter-email | markov | 0.50 | 64.95 | 0.5 | 64.94999999999999
(total) | markov | 2.00 | 149.95 | 2 | 149.95

CALL ATTRIBUTION('seine.touches', 'last-non-direct' AS model, 'source' AS channel_name, 30 AS window, '2024-06-05' AS from);
----
channel | model | transactions | revenue | transactions_exact | revenue_exact
(direct) | last-non-direct | 0.00 | 0.00 | 0 | 0
google | last-non-direct | 1.00 | 20.05 | 1 | 20.05
newsletter | last-non-direct | 0.00 | 0.00 | 0 | 0
(total) | last-non-direct | 1.00 | 20.05 | 1 | 20.05

CALL ATTRIBUTION('touches', 'position-based' AS model, '100,0,0' AS position_shares, 'source' AS channel_name, ('google', 'bing') AS direct);
----
channel | model | transactions | revenue | transactions_exact | revenue_exact, 1 warnings
(direct) | position-based | 0.00 | 0.00 | 0 | 0
google | position-based | 2.00 | 149.95 | 2 | 149.95
newsletter | position-based | 0.00 | 0.00 | 0 | 0
(total) | position-based | 2.00 | 149.95 | 2 | 149.95

SHOW WARNINGS;
----
Level | Code | Message, 1 warnings
Warning | 1000 | direct bing: no touch has this channel

# Rows that do not count are told; other columns and their order do not matter.
CREATE TABLE visits (note string, channel string, value decimal(10,2), time int, visitor string);
----
ok, 0 rows

INSERT INTO visits (id, visitor, time, channel, value) VALUES (1, 'a', 1717228800, 'Search', NULL), (2, 'a', 1717228900, '', 10.5), (3, '', 1717228900, 'Search', NULL), (4, 'b', 1717228900, 'Search', 3);
----
ok, 4 rows

CALL ATTRIBUTION('visits', 'first' AS model);
----
channel | model | transactions | revenue | transactions_exact | revenue_exact, 1 warnings
Search | first | 1.00 | 10.50 | 1 | 10.5
(total) | first | 1.00 | 10.50 | 1 | 10.5

SHOW WARNINGS;
----
Level | Code | Message, 1 warnings
Warning | 1000 | 2 of 4 rows do not count, such as row 3 by id: no visitor

# Two currencies do not add up.
CREATE TABLE sales (visitor string, time timestamp, channel string, value decimal(10,2), currency string);
----
ok, 0 rows

INSERT INTO sales (id, visitor, time, channel, value, currency) VALUES (1, 'a', 1717228800, 'Search', NULL, ''), (2, 'a', 1717228900, '', 10, 'EUR'), (3, 'a', 1717229900, '', 5, 'USD');
----
ok, 3 rows

CALL ATTRIBUTION('sales', 'first' AS model);
----
error 1210 (HY000): sales:3: orders are in EUR and in USD, which do not add up: name one by the option currency

CALL ATTRIBUTION('sales', 'first' AS model, 'USD' AS currency);
----
channel | model | transactions | revenue | transactions_exact | revenue_exact, 1 warnings
Search | first | 1.00 | 5.00 | 1 | 5
(total) | first | 1.00 | 5.00 | 1 | 5

SHOW WARNINGS;
----
Level | Code | Message, 1 warnings
Warning | 1000 | 1 orders in other currencies do not count

# A transaction sees its own rows.
BEGIN;
----
ok, 0 rows

INSERT INTO sales (id, visitor, time, channel, value, currency) VALUES (4, 'a', 1717229950, '', 7, 'USD');
----
ok, 1 rows

CALL ATTRIBUTION('sales', 'first' AS model, 'USD' AS currency);
----
channel | model | transactions | revenue | transactions_exact | revenue_exact, 1 warnings
Search | first | 2.00 | 12.00 | 2 | 12
(total) | first | 2.00 | 12.00 | 2 | 12

ROLLBACK;
----
ok, 0 rows

CALL ATTRIBUTION('sales', 'first' AS model, 'USD' AS currency);
----
channel | model | transactions | revenue | transactions_exact | revenue_exact, 1 warnings
Search | first | 1.00 | 5.00 | 1 | 5
(total) | first | 1.00 | 5.00 | 1 | 5

# Without rows there are the totals, and nothing for a chain.
TRUNCATE TABLE sales;
----
ok, 0 rows

CALL ATTRIBUTION('sales', 'first' AS model);
----
channel | model | transactions | revenue | transactions_exact | revenue_exact
(total) | first | 0.00 | 0.00 | 0 | 0

CALL ATTRIBUTION('sales', 'markov' AS model);
----
error 1210 (HY000): markov: no path converts

# Refused.
CALL ATTRIBUTION('touches', 'first' AS modle);
----
error 1210 (HY000): CALL ATTRIBUTION has no option modle: there are model, position_shares, channel_name, direct, window, half_life, from, to, single_order, requires_first_touch, currency

CALL ATTRIBUTION('touches', 'first,middle' AS model);
----
error 1210 (HY000): option model: middle is no model: there are first, last, last-non-direct, linear, even, distributed, fifty-fifty, position-based, time-decay, all-touches, markov, markov-2, markov-3, shapley, and all

CALL ATTRIBUTION('touches', 0 AS window);
----
error 1210 (HY000): option window: 0 is not a number of days above 0, at most 36525

CALL ATTRIBUTION('touches', '50,50,50' AS position_shares);
----
error 1210 (HY000): option position_shares: 50,50,50 is not three percentages that are 100 together, such as 40,20,40, with at most two digits behind the point

CALL ATTRIBUTION('touches', '2024-06-05' AS from, '2024-06-01' AS to);
----
error 1210 (HY000): option to is not after option from: no order is between them

CALL ATTRIBUTION('touches', ('a', 'b') AS window);
----
error 1210 (HY000): option window takes one value

CALL ATTRIBUTION('nothing');
----
error 1146 (42S02): no table 'nothing'

CREATE TABLE other (visitor string, channel string);
----
ok, 0 rows

CALL ATTRIBUTION('other');
----
error 1210 (HY000): the table other has no column time: a report reads visitor, time, channel or source, and perhaps medium, subcat, value, order_id, currency, confirmed

CREATE TABLE jobs (visitor text, time int, channel text) ENGINE=queue;
----
ok, 0 rows

CALL ATTRIBUTION('jobs');
----
error 1210 (HY000): 'jobs' is not a search table: CALL ATTRIBUTION reads these

CREATE TEMPORARY TABLE mine (visitor text, time int, channel text);
----
ok, 0 rows

CALL ATTRIBUTION('mine');
----
error 1210 (HY000): 'mine' is not a search table: CALL ATTRIBUTION reads these

CALL ATTRIBUTION();
----
error 1064 (42000): ATTRIBUTION() expects the name of a table as a text, then options such as 'markov,linear' AS model

