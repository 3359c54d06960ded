# SPDX-License-Identifier: Apache-2.0
#
# service.rb: a service of Sinatra that Puma runs. It answers POST /order and GET /catalog on the port PORT.
#
# An order is JSON. SQLite finds its products and calls a function in Ruby, OpenSSL and zlib sign and pack the answer, and
# ERB makes the page of the catalog. A request with the header X-Stacks makes note() write what Ruby says of the stack
# at some places to the file STACKS, a line of JSON each.

require 'base64'
require 'erb'
require 'json'
require 'openssl'
require 'sqlite3'
require 'sinatra/base'
require 'zlib'

PRODUCTS = 150
$notes = false

# Writes the stack at this place, outermost function first.
def note
  return unless $notes

  labels = caller_locations.map(&:label).reverse
  File.open(ENV.fetch('STACKS'), 'a') { |file| file.puts(labels.to_json) }
end

class Shop
  def initialize
    @database = SQLite3::Database.new(':memory:')
    @database.execute('create table product (id integer primary key, name text, cents integer)')
    PRODUCTS.times do |id|
      @database.execute('insert into product values (?, ?, ?)', [id, "product #{id} " * 8, id * 37])
    end
    @database.create_function('rank', 1) { |call, name| call.result = rank(name.to_s) }
    @lock = Mutex.new
  end

  def rank(name)
    note
    sum = 0
    name.each_byte { |byte| sum = (sum * 31 + byte) % 65_521 }
    sum
  end

  def find(least)
    found = []
    @lock.synchronize do
      @database.execute('select id, name, cents from product where id * 7 % 10 >= ? order by rank(name)', [least]) do |row|
        note
        found << { id: row[0], name: row[1], price: price(row[2]) }
      end
    end
    found
  end

  def price(cents)
    format('%d.%02d', cents / 100, cents % 100)
  end
end

class Service < Sinatra::Base
  set :show_exceptions, false
  set :host_authorization, permitted_hosts: []
  disable :logging

  SHOP = Shop.new
  enable :inline_templates

  before do
    $notes = !request.env['HTTP_X_STACKS'].nil?
  end

  helpers do
    def shown(one)
      note
      "#{one[:name].gsub(/(\d)(\d)/) { "#{Regexp.last_match(2)}#{Regexp.last_match(1)}" }} at #{one[:price]}"
    end
  end

  def sign(text)
    note
    OpenSSL::PKCS5.pbkdf2_hmac(text, 'salt', 3000, 32, 'sha256').unpack1('H*')
  end

  def pack(text)
    note
    Base64.strict_encode64(Zlib::Deflate.deflate(text, 9))
  end

  post '/order' do
    note
    order = JSON.parse(request.body.read)
    text = JSON.generate(customer: order['customer'], products: SHOP.find(order['lines'].size % 3))
    content_type :json
    { signature: sign(text), packed: pack(text) }.to_json
  end

  get '/catalog' do
    note
    @products = SHOP.find(0)
    erb :catalog
  end
end

__END__

@@ catalog
<ul>
<% @products.each do |one| %>
<li><%= shown(one) %></li>
<% end %>
</ul>
